// What a kubeconfig may be, and what is refused with its name and without its secrets.
import { describe, expect, it } from 'vitest';
import { connectionFromKubeconfig } from '../../../src/kube/kubeconfig.ts';
import { createCaCertificate, generateKey, issueServingCertificate } from '../../../src/lib/x509.ts';

const now = new Date();
const caKey = generateKey();
const ca = await createCaCertificate(caKey, { commonName: 'ca', now, days: 1 });
const pair = await issueServingCertificate(
  { certificate: ca, key: caKey },
  { commonName: 'u', names: ['u'], now, days: 1 },
);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
}

function kubeconfig({ cluster, user }: Parts = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'b',
    contexts: [
      { name: 'a', context: { cluster: 'other', user: 'other' } },
      { name: 'b', context: { cluster: 'c', user: 'u', namespace: 'x' } },
    ],
    clusters: [
      { name: 'c', cluster: cluster ?? { server: 'https://10.0.0.1:6443', 'certificate-authority-data': base64(ca) } },
    ],
    users: [{ name: 'u', user: user ?? { token: 'hush-hush' } }],
  });
}

const files: Readonly<Record<string, string>> = {
  'ca.crt': ca,
  'tls.crt': pair.certificate,
  'tls.key': pair.key,
  token: 'first',
};
const options = {
  file: 'admin.conf',
  readFile: async (path: string) => files[path] ?? Promise.reject(new Error(`no ${path}`)),
};

describe('connectionFromKubeconfig', () => {
  it('takes server, CA and token of the current context', async () => {
    const connection = await connectionFromKubeconfig(kubeconfig(), options);
    expect(connection).toMatchObject({ servers: ['https://10.0.0.1:6443'], ca: [ca] });
    const { credential } = connection;
    expect(credential.type === 'token' && (await credential.token())).toBe('hush-hush');
  });

  it('takes a client certificate and its key', async () => {
    const user = { 'client-certificate-data': base64(pair.certificate), 'client-key-data': base64(pair.key) };
    const { credential } = await connectionFromKubeconfig(kubeconfig({ user }), options);
    expect(credential).toEqual({ type: 'certificate', certificate: pair.certificate, key: pair.key });
  });

  it('reads files that it names, the token anew each time', async () => {
    const cluster = { server: 'https://h', 'certificate-authority': 'ca.crt', 'tls-server-name': 'kubernetes' };
    const user = { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' };
    const connection = await connectionFromKubeconfig(kubeconfig({ cluster, user }), options);
    expect(connection).toMatchObject({ ca: [ca], serverName: 'kubernetes', credential: { type: 'certificate' } });
    let token = 'first';
    const rotating = { ...options, readFile: async () => token };
    const { credential } = await connectionFromKubeconfig(kubeconfig({ user: { tokenFile: 'token' } }), rotating);
    token = 'second';
    expect(credential.type === 'token' && (await credential.token())).toBe('second');
  });

  it.each<[string, Parts, string]>([
    ['programs that log in', { user: { exec: { command: 'x' } } }, 'a program that makes credentials (exec)'],
    ['login plugins', { user: { 'auth-provider': { name: 'x' } } }, 'a login plugin (auth-provider)'],
    ['passwords', { user: { username: 'a', password: 'hush-hush' } }, 'a password (username)'],
    ['other accounts', { user: { token: 'hush-hush', as: 'root' } }, 'acting as another account (as)'],
    [
      'connections that are not checked',
      { cluster: { server: 'https://h', 'insecure-skip-tls-verify': true } },
      'no check of the certificate (insecure-skip-tls-verify)',
    ],
    ['proxies', { cluster: { server: 'https://h', 'proxy-url': 'http://p' } }, 'a proxy (proxy-url)'],
    ['plain HTTP', { cluster: { server: 'http://h' } }, 'the server must be an https URL'],
    ['what is no URL', { cluster: { server: 'h' } }, 'the server is no URL'],
    ['no credential', { user: {} }, 'neither a client certificate with its key nor a token'],
    [
      'a key of another certificate',
      { user: { 'client-certificate-data': base64(ca), 'client-key-data': base64(pair.key) } },
      'do not fit together',
    ],
    ['a CA that is no PEM', { cluster: { server: 'https://h', 'certificate-authority-data': 'hush' } }, 'is no PEM'],
  ])('refuses %s', async (_, parts, words) => {
    const failure = connectionFromKubeconfig(kubeconfig(parts), options);
    await expect(failure).rejects.toMatchObject({ code: 'BKE_KUBECONFIG_INVALID', exitCode: 3 });
    await expect(failure).rejects.toThrow(words);
    await expect(failure).rejects.toThrow('admin.conf');
    await expect(failure).rejects.not.toThrow('hush-hush');
  });

  it('says which context is missing', async () => {
    const text = kubeconfig().replace('"current-context":"b"', '"current-context":"nope"');
    await expect(connectionFromKubeconfig(text, options)).rejects.toThrow('no context named "nope"');
  });

  it('refuses a file that is something else', async () => {
    await expect(connectionFromKubeconfig('hello: 1\n', options)).rejects.toMatchObject({
      code: 'BKE_KUBECONFIG_INVALID',
      message: 'admin.conf is no kubeconfig',
    });
  });
});
