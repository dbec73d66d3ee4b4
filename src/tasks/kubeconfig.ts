// A kubeconfig that lies on a host, as a connection: what it names is read there, relative to its own folder.
import path from 'node:path';
import type { Host } from '../host/host.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { connectionFromKubeconfig } from '../kube/kubeconfig.ts';
import { BkeError } from '../lib/errors.ts';

/**
 * @param file absolute path on the host
 * @throws BkeError BKE_KUBECONFIG_INVALID
 */
export async function connectionByKubeconfig(
  host: Pick<Host, 'files' | 'name'>,
  file: string,
): Promise<KubeConnection> {
  const readFile = async (name: string): Promise<string> => {
    const place = path.resolve(path.dirname(file), name);
    const content = await host.files.read(place);
    if (content !== undefined) return content.toString('utf8');
    throw new BkeError('BKE_KUBECONFIG_INVALID', `${place} is not there`, { host: host.name });
  };
  return connectionFromKubeconfig(await readFile(file), { file, readFile });
}
