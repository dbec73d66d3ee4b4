// Asks a host what it is: one program, once, whichever way the host is reached.
import { readAsset } from '../../lib/assets.ts';
import { BkeError } from '../../lib/errors.ts';
import { printable } from '../../lib/text.ts';
import { toError } from '../../lib/thrown.ts';
import type { HostShell } from '../host.ts';
import { parseFacts } from './parse.ts';
import type { HostFacts } from './schema.ts';

export interface FactsOptions {
  /** Whose disks are wanted; they need not exist. */
  readonly paths?: readonly string[];
  /** Programs to look for: those that what is judged by the facts needs. */
  readonly tools: readonly string[];
  readonly signal?: AbortSignal;
}

/** What kubeadm, containerd, flannel and kube-proxy use. */
const modulesOfKubernetes = 'overlay br_netfilter vxlan ip_vs ip_vs_rr nf_conntrack ip_tables nf_tables xt_comment';

/** Changes nothing there. @throws BkeError BKE_HOST_FACTS where the answer can't be used; BKE_TIMEOUT after 40 s. */
export async function gatherFacts(host: HostShell, options: FactsOptions): Promise<HostFacts> {
  const probe = await readAsset('assets/host/probe.sh');
  const before = now();
  const result = await host.run(['/bin/sh', '-c', probe, 'bke-probe', ...(options.paths ?? ['/'])], {
    timeoutMs: 40_000,
    maxOutputBytes: 4 * 1024 * 1024,
    env: {
      BKE_MODULES: modulesOfKubernetes,
      BKE_TOOLS: options.tools.join(' '),
    },
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  try {
    return parseFacts(result.stdout, { before, after: now() });
  } catch (error) {
    throw new BkeError('BKE_HOST_FACTS', `what ${host.name} is could not be read: ${firstSentence(error)}`, {
      host: host.name,
      details: result.exitCode === 0 ? [] : [`the probe ended with exit code ${result.exitCode}`],
      hint: `Look at it on the host: sh -c 'uname -a; cat /etc/os-release'. If that is well, this is a bug in bke: report it with the log file.`,
      cause: error,
    });
  }
}

function now(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}

function firstSentence(error: unknown): string {
  return printable(toError(error).message).replaceAll(/\s+/g, ' ').slice(0, 300);
}
