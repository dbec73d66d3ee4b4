// A kubeconfig file as a connection: client certificates and tokens, in the file or beside it; every other way to log in is refused by name.
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { readYaml } from '../config/read-yaml.ts';
import { problemLines } from '../config/problem.ts';
import { BkeError } from '../lib/errors.ts';
import type { KubeConnection, KubeCredential } from './connection.ts';

export interface KubeconfigOptions {
  /** As the user knows the file, for messages. */
  readonly file: string;
  /** Text of a file that the kubeconfig names: its path, relative to the kubeconfig's folder where it is not absolute. */
  readonly readFile: (path: string) => Promise<string>;
}

const clusterSchema = z.looseObject({
  server: z.string(),
  'certificate-authority-data': z.string().optional(),
  'certificate-authority': z.string().optional(),
  'tls-server-name': z.string().optional(),
});
const userSchema = z.looseObject({
  'client-certificate-data': z.string().optional(),
  'client-certificate': z.string().optional(),
  'client-key-data': z.string().optional(),
  'client-key': z.string().optional(),
  token: z.string().optional(),
  tokenFile: z.string().optional(),
});
const kubeconfigSchema = z.looseObject({
  'current-context': z.string(),
  contexts: z.array(
    z.looseObject({ name: z.string(), context: z.looseObject({ cluster: z.string(), user: z.string() }) }),
  ),
  clusters: z.array(z.looseObject({ name: z.string(), cluster: clusterSchema })),
  users: z.array(z.looseObject({ name: z.string(), user: userSchema })),
});
type Cluster = z.infer<typeof clusterSchema>;
type User = z.infer<typeof userSchema>;

/** What would weaken or redirect the connection, or run a program; ignoring it would be a surprise. */
const refusedOfCluster = { 'insecure-skip-tls-verify': 'no check of the certificate', 'proxy-url': 'a proxy' };
const refusedOfUser = {
  exec: 'a program that makes credentials',
  'auth-provider': 'a login plugin',
  username: 'a password',
  password: 'a password',
  as: 'acting as another account',
  'as-uid': 'acting as another account',
  'as-groups': 'acting as another account',
};

/** The current context. @throws BkeError BKE_KUBECONFIG_INVALID; nothing of a credential is in a message */
export async function connectionFromKubeconfig(text: string, options: KubeconfigOptions): Promise<KubeConnection> {
  const result = readYaml(text, options.file, kubeconfigSchema);
  if ('problems' in result) {
    throw new BkeError('BKE_KUBECONFIG_INVALID', `${options.file} is no kubeconfig`, {
      details: problemLines(result.problems),
    });
  }
  const { contexts, clusters, users, 'current-context': current } = result.value;
  const { context } = named(contexts, current, 'context', options);
  const { cluster } = named(clusters, context.cluster, 'cluster', options);
  const { user } = named(users, context.user, 'user', options);
  refuse(cluster, refusedOfCluster, options);
  refuse(user, refusedOfUser, options);
  const ca = await inFileOrBeside(cluster, 'certificate-authority', options);
  const serverName = cluster['tls-server-name'];
  return {
    servers: [serverUrl(cluster, options)],
    ...(ca === undefined ? {} : { ca: [ca] }),
    ...(serverName === undefined ? {} : { serverName }),
    credential: await credentialOf(user, options),
  };
}

function invalid({ file }: KubeconfigOptions, message: string): BkeError {
  return new BkeError('BKE_KUBECONFIG_INVALID', `${file}: ${message}`, {
    hint: 'Name a kubeconfig with a client certificate or a token.',
  });
}

function named<Entry extends { readonly name: string }>(
  entries: readonly Entry[],
  name: string,
  what: string,
  options: KubeconfigOptions,
): Entry {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw invalid(options, `there is no ${what} named ${JSON.stringify(name)}`);
  return found;
}

function refuse(fields: object, refused: Readonly<Record<string, string>>, options: KubeconfigOptions): void {
  for (const [field, meaning] of Object.entries(refused)) {
    const value: unknown = Reflect.get(fields, field);
    if (value === undefined || value === null || value === '' || value === false) continue;
    throw invalid(options, `it asks for ${meaning} (${field}), which bke does not do`);
  }
}

function serverUrl({ server }: Cluster, options: KubeconfigOptions): string {
  const url = URL.parse(server);
  if (url === null) throw invalid(options, 'the server is no URL');
  // Over plain HTTP anyone on the way could read the credential.
  if (url.protocol !== 'https:') throw invalid(options, 'the server must be an https URL');
  if (url.username !== '' || url.password !== '') throw invalid(options, 'the URL of the server has a login');
  return server;
}

async function credentialOf(user: User, options: KubeconfigOptions): Promise<KubeCredential> {
  const certificate = await inFileOrBeside(user, 'client-certificate', options);
  const key = await inFileOrBeside(user, 'client-key', options);
  if (certificate !== undefined && key !== undefined) {
    if (!fit(certificate, key)) throw invalid(options, 'the client certificate and its key do not fit together');
    return { type: 'certificate', certificate, key };
  }
  const { token, tokenFile } = user;
  // As kubectl: the file wins, because it is the one that is renewed.
  if (tokenFile !== undefined) return { type: 'token', token: () => options.readFile(tokenFile) };
  if (token !== undefined) return { type: 'token', token: async () => token };
  throw invalid(options, 'the user has neither a client certificate with its key nor a token');
}

/** `<field>-data` (base64) or the file that `<field>` names. */
async function inFileOrBeside(fields: object, field: string, options: KubeconfigOptions): Promise<string | undefined> {
  const data: unknown = Reflect.get(fields, `${field}-data`);
  if (typeof data === 'string' && data !== '') return pem(Buffer.from(data, 'base64').toString('utf8'), field, options);
  const path: unknown = Reflect.get(fields, field);
  if (typeof path !== 'string' || path === '') return undefined;
  return pem(await options.readFile(path), field, options);
}

function pem(text: string, field: string, options: KubeconfigOptions): string {
  if (!text.includes('-----BEGIN ')) throw invalid(options, `${field} is no PEM`);
  return text;
}

function fit(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}
