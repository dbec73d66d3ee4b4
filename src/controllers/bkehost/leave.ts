// Takes bke off a host that leaves: `bke reset --all` from a copy of the host's own bke, which goes on when the connection breaks.
import type { HostShell } from '../../host/host.ts';
import type { SshTarget } from '../../host/ssh/target.ts';
import { BkeError } from '../../lib/errors.ts';
import { lastLine, lastLines } from '../../lib/text.ts';
import type { Connect } from './enrol.ts';
import type { JobScope } from './jobs.ts';

const loginMs = 60_000;
const resetMs = 20 * 60_000;

/** The BKEHost that leaves. */
export interface LeavingHost {
  readonly namespace: string;
  readonly name: string;
}

/** @throws BkeError BKE_HOST_NOT_CLEANED with what the reset said */
export async function leave(
  host: LeavingHost,
  { target, connect }: { readonly target: SshTarget; readonly connect: Connect },
  { signal, tell }: JobScope,
): Promise<void> {
  tell(`logging in as ${target.user}`);
  const shell = await connect(target, { signal, deadlineMs: loginMs });
  try {
    tell('taking bke off the host');
    await reset(host, shell, signal);
  } finally {
    await shell.close();
  }
}

async function reset({ namespace, name }: LeavingHost, shell: HostShell, signal: AbortSignal): Promise<void> {
  const argv = ['/bin/sh', '-c', leaveScript, 'bke-leave', namespace, name] as const;
  const { stdout, stderr, exitCode } = await shell.run(argv, { timeoutMs: resetMs, signal });
  const verdict = lastLine(stdout);
  if (verdict === 'clean' || verdict === 'nothing' || verdict === 'others') return;
  throw new BkeError(
    'BKE_HOST_NOT_CLEANED',
    `bke reset --all did not end well on ${shell.name} (exit code ${exitCode})`,
    {
      host: shell.name,
      details: lastLines(`${stdout}\n${stderr}`, 12),
      hint: `Log in to ${shell.name} and run bke reset --all there; where the machine is gone for good, annotate the BKEHost with bke.io/force-delete=true.`,
    },
  );
}

/**
 * Prints one word as its last line: nothing (neither bke, nor its state, nor its agent is there: each may be lost alone), others (the agent there is
 * that of another BKEHost, given as namespace and name of this one: the machine is not ours to clean) or clean. A second one waits for the first by the lock of the host. The unit's output is in the journal, so that nothing of it hangs on this connection.
 */
export const leaveScript = `
umask 077
copy=/var/lib/bke-leaving unit=bke-leave-$$
if [ ! -e /var/lib/bke ] && [ ! -e /usr/local/bin/bke ] && [ ! -e /etc/systemd/system/bke-agent.service ]; then rm -f /var/lib/bke-brought-* "$copy"; echo nothing; exit 0; fi
config=/var/lib/bke/agent/config.json
if [ -s "$config" ] && ! { grep -qF '"namespace": "'"$1"'"' "$config" && grep -qF '"host": "'"$2"'"' "$config"; }; then echo others; exit 0; fi
bke=$(readlink -f /usr/local/bin/bke)
[ -x "$bke" ] || bke=$(ls -1d /var/lib/bke-brought-* 2>/dev/null | head -n 1)
[ -x "$bke" ] || { echo "bke is not on this host any more, but its state in /var/lib/bke or its agent is" >&2; exit 1; }
cp -f -- "$bke" "$copy" && chmod 0700 "$copy" || { rm -f "$copy"; exit 1; }
work='"$0" reset --all --yes; code=$?; rm -f -- "$0"; exit $code'
if systemd-run --quiet --wait --collect --unit="$unit" /bin/sh -c "$work" "$copy"; then rm -f /var/lib/bke-brought-*; echo clean; exit 0; fi
journalctl --quiet --no-pager --output=cat --lines=12 --unit="$unit" >&2
rm -f "$copy"
exit 1
`;
