// A certificate with its key as a Secret of type kubernetes.io/tls, and back.
import { z } from 'zod';
import type { KubeObject, ObjectKey } from '../../kube/client.ts';
import type { CertificatePair } from '../../lib/x509.ts';

const tlsData = z.object({
  data: z.object({ 'tls.crt': z.base64(), 'tls.key': z.base64(), 'ca.crt': z.base64().optional() }),
});

/** @param ca PEM of who signed it: for clients that read it from there, as cert-manager writes it. */
export function tlsSecret(
  { namespace, name }: Pick<ObjectKey, 'namespace' | 'name'>,
  { certificate, key, ca }: CertificatePair & { readonly ca?: string },
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    type: 'kubernetes.io/tls',
    data: {
      'tls.crt': toBase64(certificate),
      'tls.key': toBase64(key),
      ...(ca === undefined ? {} : { 'ca.crt': toBase64(ca) }),
    },
  };
}

/** undefined where the Secret holds none. */
export function pairOf(secret: KubeObject): (CertificatePair & { readonly ca: string | undefined }) | undefined {
  const { data } = tlsData.safeParse(secret).data ?? {};
  if (data === undefined) return undefined;
  const ca = data['ca.crt'];
  return {
    certificate: fromBase64(data['tls.crt']),
    key: fromBase64(data['tls.key']),
    ca: ca === undefined ? undefined : fromBase64(ca),
  };
}

export function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString();
}
