// The connection of a pod: what Kubernetes puts into every container for its service account.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isIPv6 } from 'node:net';
import { BkeError } from '../lib/errors.ts';
import { toError } from '../lib/thrown.ts';
import type { KubeConnection } from './connection.ts';

const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The token is read before every request: the kubelet replaces it well before it expires.
 * @throws BkeError BKE_KUBECONFIG_INVALID where this is no pod, or one without a service account
 */
export async function inClusterConnection(
  env: Readonly<Record<string, string | undefined>>,
  directory = mounted,
): Promise<KubeConnection> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (host === undefined || port === undefined) {
    throw new BkeError('BKE_KUBECONFIG_INVALID', 'this is no pod of a cluster: KUBERNETES_SERVICE_HOST is not set', {
      hint: 'Name a kubeconfig with --kubeconfig.',
    });
  }
  return {
    servers: [`https://${isIPv6(host) ? `[${host}]` : host}:${port}`],
    ca: [await mountedFile(directory, 'ca.crt')],
    credential: { type: 'token', token: () => mountedFile(directory, 'token') },
  };
}

async function mountedFile(directory: string, name: string): Promise<string> {
  try {
    return await readFile(path.join(directory, name), 'utf8');
  } catch (thrown) {
    throw new BkeError('BKE_KUBECONFIG_INVALID', `cannot read the pod's service account: ${toError(thrown).message}`, {
      cause: thrown,
      hint: 'The pod must not switch automountServiceAccountToken off.',
    });
  }
}
