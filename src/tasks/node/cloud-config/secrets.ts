// Takes what bootstrap data holds of secrets out of the lines that commands print.
import { createRedactor, type Redactor } from '../../../lib/redact.ts';
import type { BootstrapData } from './parse.ts';

/** Tokens that machines join with (Kubernetes, bootstrap tokens), also those that kubeadm makes, and the key of uploaded certificates. */
const madeByKubeadm = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b|(?<=--certificate-key[ =])\S+/g;

export function redactorOf({ files, users }: Pick<BootstrapData, 'files' | 'users'>): Redactor {
  const keys = files.map(({ content }) => content.toString('utf8')).filter((text) => text.includes('PRIVATE KEY-----'));
  const hashes = users.flatMap(({ passwordHash }) => passwordHash ?? []);
  const redact = createRedactor([...keys, ...hashes]);
  return (text) => redact(text).replaceAll(madeByKubeadm, '[secret]');
}
