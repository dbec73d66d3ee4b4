// The management CA: a Secret in the cluster, made once; it signs the certificates of webhooks (and of the runtime extension).
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import { type CertificatePair, createCaCertificate, generateKey, isPair, notAfter } from '../../lib/x509.ts';
import { systemNamespace } from './providers.ts';
import { pairOf, tlsSecret } from './tls-secret.ts';

export const managementCaKey = {
  apiVersion: 'v1',
  kind: 'Secret',
  namespace: systemNamespace,
  name: 'bke-management-ca',
};
const lifeDays = 3650;
const dayMs = 24 * 3_600_000;
/** Leaves live no longer than their CA, so from a leaf's life before its end every leaf is a shorter one. */
const noticeDays = 365;
const mend = `Delete the Secret ${managementCaKey.namespace}/${managementCaKey.name} and run \`bke init\` again: it makes a new CA and new certificates.`;

export async function hasManagementCa(client: Pick<KubeClient, 'get'>): Promise<boolean> {
  return (await client.get(managementCaKey)) !== undefined;
}

/**
 * Makes the CA where there is none. One that is there is never replaced. Needs the namespace.
 * @returns whether it was made.
 */
export async function ensureManagementCa(
  client: Pick<KubeClient, 'get' | 'create'>,
  { now }: { readonly now: Date },
): Promise<boolean> {
  if (await hasManagementCa(client)) return false;
  const caKey = generateKey();
  const certificate = await createCaCertificate(caKey, { commonName: 'bke management CA', now, days: lifeDays });
  // Created, not applied: of two that try at once one is refused, so that no CA overwrites another.
  await client.create(tlsSecret(managementCaKey, { certificate, key: caKey }));
  return true;
}

export interface ManagementCa extends CertificatePair {
  /** What to tell people, where its end is near. */
  readonly warning: string | undefined;
}

/** @throws BkeError BKE_MANAGEMENT_CA where it is missing, damaged or over. */
export async function readManagementCa(
  client: Pick<KubeClient, 'get'>,
  { now }: { readonly now: Date },
): Promise<ManagementCa> {
  const secret = await client.get(managementCaKey);
  if (secret === undefined)
    throw unusable('is missing', 'Run `bke init` again: it makes a new CA and new certificates.');
  const pair = usablePair(secret);
  const end = pair === undefined ? undefined : notAfter(pair.certificate);
  if (pair === undefined || end === undefined) throw unusable('is damaged', mend);
  const day = end.toISOString().slice(0, 10);
  if (end <= now) throw unusable(`ended on ${day}`, mend);
  const near = end.getTime() - now.getTime() < noticeDays * dayMs;
  return {
    ...pair,
    warning: near ? `The management CA ends on ${day}; webhooks stop working then. ${mend}` : undefined,
  };
}

function usablePair(secret: KubeObject): CertificatePair | undefined {
  const pair = pairOf(secret);
  return pair !== undefined && isPair(pair) ? pair : undefined;
}

function unusable(why: string, hint: string): BkeError {
  return new BkeError(
    'BKE_MANAGEMENT_CA',
    `the management CA (Secret ${managementCaKey.namespace}/${managementCaKey.name}) ${why}`,
    { hint },
  );
}
