// How hosts are reached, as cluster.yaml has it: login, sudo, bastions, host keys.
import { z } from 'zod';
import { isDnsName } from '../../lib/dns-name.ts';
import { parseHostKey } from '../../lib/ssh-public-key.ts';
import { truncate } from '../../lib/text.ts';
import { isIP } from 'node:net';

/** Each alone lets somebody in; `agent` is the SSH agent of whoever runs bke. */
export const loginFields = ['password', 'passwordFile', 'privateKeyFile', 'agent'] as const;

export const port = z.int('must be a whole number').min(1, 'must be 1 to 65535').max(65_535, 'must be 1 to 65535');

/** Path; relative ones begin at the file, `~/` at the home of whoever runs bke. */
const path = z.string().min(1);

const hostKey = z.string().refine((text) => parseHostKey(text) !== undefined, {
  error:
    'is neither SHA256:… nor a public key; print the keys on the host: for f in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf "$f"; done',
});

const user = z.string().regex(/^[^\s:/-][^\s:/]{0,63}$/, { error: 'is no name of an account' });

/** A DNS name or an address. */
export const reachable = z
  .string()
  .min(1)
  .refine((text) => isIP(text) !== 0 || isDnsName(text.toLowerCase()), {
    error: ({ input }) => `${JSON.stringify(truncate(String(input), 40))} is neither an IP address nor a DNS name`,
  });

const login = {
  user: user.optional(),
  port: port.optional(),
  hostKeys: z.array(hostKey).optional(),
  /** Empty: not given. */
  password: z.string().optional(),
  passwordFile: path.optional(),
  privateKeyFile: path.optional(),
  passphraseFile: path.optional(),
  agent: z.boolean().optional(),
};

export interface BastionFile extends z.infer<z.ZodObject<typeof login, z.core.$strict>> {
  readonly address: string;
  readonly bastion?: BastionFile | undefined;
}

const bastion: z.ZodType<BastionFile> = z.lazy(() =>
  z.strictObject({ address: reachable, ...login, bastion: bastion.optional() }),
);

export const sshFile = z.strictObject({
  ...login,
  sudo: z.strictObject({ password: z.string().optional(), passwordFile: path.optional() }).optional(),
  bastion: bastion.optional(),
  retain: z.boolean().optional(),
});
export type SshFile = z.infer<typeof sshFile>;
