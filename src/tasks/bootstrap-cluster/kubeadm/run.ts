// Runs kubeadm with bke's configuration; what it says when it fails becomes the error.
import { BkeError } from '../../../lib/errors.ts';
import { lastLines } from '../../../lib/text.ts';
import type { TaskScope } from '../../task.ts';
import { kubeadmPaths } from './paths.ts';

const runMs = 15 * 60_000;
const shownLines = 15;

/** @throws BkeError BKE_KUBEADM_FAILED */
export async function runKubeadm(scope: TaskScope, words: readonly string[]): Promise<void> {
  const argv = [kubeadmPaths.program, ...words, `--config=${kubeadmPaths.config}`] as const;
  const result = await scope.host.run(argv, { timeoutMs: runMs, signal: scope.signal });
  if (result.exitCode === 0) return;
  const name = words.filter((word) => !word.startsWith('-')).join(' ');
  throw new BkeError('BKE_KUBEADM_FAILED', `kubeadm ${name} ended with exit code ${result.exitCode}`, {
    host: scope.host.name,
    details: errorLines(result.stderr),
    hint: 'See crictl ps -a and journalctl -u kubelet, mend what is named, then run the same command again.',
  });
}

/** kubeadm's own words, without what it says to everybody. */
function errorLines(stderr: string): string[] {
  const general = /^To see the stack trace|^\s*$|^\[preflight\] If you know/;
  const lines = stderr.split('\n').filter((line) => !general.test(line));
  return lastLines(lines.join('\n'), shownLines);
}
