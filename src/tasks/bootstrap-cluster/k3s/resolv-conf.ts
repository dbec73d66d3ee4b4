// Which file tells pods the host's name servers. Left to itself, K3s takes a public server where it likes none of the host's.
import { podResolvConf } from '../../node/kubelet-config.ts';
import type { TaskScope } from '../../task.ts';
import { k3sPaths } from './paths.ts';

/** systemd-resolved keeps the servers behind its own address in the second. */
const hostFiles = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'];

export interface ResolvConf {
  /** What the kubelet is told. */
  readonly file: string;
  /** Of that file, where bke writes it. */
  readonly text?: string;
}

/** The host's own file where pods can reach all servers in it, else one of bke's. */
export async function chooseResolvConf(scope: TaskScope, hostIP: string): Promise<ResolvConf> {
  let text: string | undefined;
  for (const file of hostFiles) {
    const found = (await scope.host.files.read(file).catch(() => undefined))?.toString('utf8');
    if (found === undefined) continue;
    const usable = podResolvConf(found, hostIP);
    if (usable === undefined) return { file };
    text ??= usable;
  }
  return { file: k3sPaths.resolvConf, text: text ?? podResolvConf('', hostIP) ?? '' };
}
