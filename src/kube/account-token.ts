// Asks the API server for a token of a service account (TokenRequest).
import { BkeError } from '../lib/errors.ts';
import type { KubeClient } from './client.ts';
import { textAt } from './fields.ts';

export interface TokenOwner {
  readonly namespace: string;
  readonly account: string;
}

/** @param seconds asked for; an API server may give less. @throws BkeError BKE_KUBE_FAILED where none came; as KubeClient does */
export async function requestToken(
  client: Pick<KubeClient, 'request'>,
  { namespace, account }: TokenOwner,
  seconds: number,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: seconds },
  };
  const token = textAt(await client.request('POST', path, { body }), 'status', 'token');
  if (token === undefined) throw new BkeError('BKE_KUBE_FAILED', `no token came for ${namespace}/${account}`);
  return token;
}
