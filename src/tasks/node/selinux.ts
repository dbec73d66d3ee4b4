// Gives programs that bke put in place the security label their place asks for: with the label of another place their service can't start (203/EXEC).
import type { TaskScope } from '../task.ts';

/** Does nothing on hosts without SELinux. Labels are attributes of bke's own files, so they need no entry in the ledger. */
export async function relabel(scope: TaskScope, path: string): Promise<void> {
  const enabled = (await scope.host.files.stat('/sys/fs/selinux/enforce')) !== undefined;
  if (!enabled || scope.dryRun) return;
  const result = await scope.host.run(['restorecon', '-R', path], { timeoutMs: 60_000 });
  if (result.exitCode !== 0) scope.warn(`restorecon -R ${path} failed: ${result.stderr.trim()}`);
}
