// How a BKEHost is logged in to: its `ssh` and the Secret beside it as a target. Nothing is dialled whose key is not known.
import type { BKEHostSpec } from '../../api/kinds/bke-host.ts';
import { secretKeys } from '../../cluster/render/secrets.ts';
import type { SshTarget } from '../../host/ssh/target.ts';
import type { KubeObject, ObjectKey } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { askedBy, type HostView } from './host.ts';

type Ssh = NonNullable<BKEHostSpec['ssh']>;
type Bastion = NonNullable<Ssh['bastions']>[number];

/** Addresses of the host and its bastions of which no key is known. */
export function withoutKeys({ address, ssh }: BKEHostSpec): string[] {
  if (ssh === undefined) return [];
  const all = [...(ssh.bastions ?? []), { address, hostKeys: ssh.hostKeys }];
  return all.filter(({ hostKeys = [] }) => hostKeys.length === 0).map((one) => one.address);
}

/** What a host is logged in to with. */
export interface Login {
  readonly secret: ObjectKey;
}

/** undefined: it must not be dialled, or there is nothing to log in with. */
export function loginOf({ namespace, spec }: Pick<HostView, 'namespace' | 'spec'>): Login | undefined {
  const name = spec.ssh?.secretRef?.name;
  if (name === undefined || withoutKeys(spec).length > 0) return undefined;
  return { secret: { apiVersion: 'v1', kind: 'Secret', namespace, name } };
}

/** Another text: another login, or somebody asks again; nothing is known of it. */
export function inputsOf(
  { object, spec: { address, ssh } }: Pick<HostView, 'object' | 'spec'>,
  secret: KubeObject | undefined,
): string {
  return JSON.stringify([address, ssh, secret?.metadata.resourceVersion, askedBy(object)]);
}

/** @throws BkeError BKE_HOST_CREDENTIALS where the Secret is not there, or has nothing that logs in */
export function targetOf({ namespace, name, spec }: HostView, secret: KubeObject | undefined): SshTarget {
  const { address, ssh } = spec;
  if (ssh === undefined) throw new Error(`${name} has no ssh`);
  const place = { host: name, namespace, secret: ssh.secretRef?.name ?? '' };
  if (secret === undefined) throw noCredentials(place, 'is not there');
  const value = valuesOf(secret);
  const auth = authOf(value, '');
  if (auth.password === undefined && auth.privateKey === undefined) {
    throw noCredentials(place, `has neither ${secretKeys.password} nor ${secretKeys.privateKey}`);
  }
  const sudo = value(secretKeys.sudo);
  const bastion = bastionOf(ssh.bastions ?? [], value);
  return {
    ...login({ name, field: 'spec.ssh', address, ...ssh }, auth),
    ...(sudo === undefined ? {} : { sudo: { password: sudo } }),
    ...(bastion === undefined ? {} : { bastion }),
  };
}

function noCredentials(
  { host, namespace, secret }: { readonly host: string; readonly namespace: string; readonly secret: string },
  what: string,
): BkeError {
  const make = `kubectl -n ${namespace} create secret generic ${secret}`;
  return new BkeError('BKE_HOST_CREDENTIALS', `the Secret ${namespace}/${secret} ${what}`, {
    host,
    hint: `Make it: ${make} --from-file=${secretKeys.privateKey}=FILE, or --from-file=${secretKeys.password}=FILE.`,
  });
}

/** The last one is dialled through those before it. */
function bastionOf(bastions: readonly Bastion[], value: Values): SshTarget | undefined {
  return bastions.reduce<SshTarget | undefined>((before, bastion, index) => {
    const field = `spec.ssh.bastions[${index}]`;
    const target = login(
      { name: `bastion ${bastion.address}`, field, ...bastion },
      bastionAuth(value, index, bastions.length),
    );
    return before === undefined ? target : { ...target, bastion: before };
  }, undefined);
}

/** Without a way in of its own it takes that of what is behind it, as in cluster.yaml. */
function bastionAuth(value: Values, index: number, count: number): SshTarget['auth'] {
  if (index === count) return authOf(value, '');
  const own = authOf(value, `bastion-${index}.`);
  return own.password === undefined && own.privateKey === undefined ? bastionAuth(value, index + 1, count) : own;
}

interface LoginFields {
  readonly name: string;
  readonly field: string;
  readonly address: string;
  readonly user: string;
  readonly port: number;
  readonly hostKeys?: readonly string[] | undefined;
}

function login({ name, field, address, user, port, hostKeys = [] }: LoginFields, auth: SshTarget['auth']): SshTarget {
  return { name, field, address, user, port, hostKeys, auth, knownHostsFiles: [] };
}

type Values = (key: string) => string | undefined;

function valuesOf(secret: KubeObject): Values {
  return (key) => {
    const encoded = textAt(secret, 'data', key);
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
  };
}

function authOf(value: Values, before: string): SshTarget['auth'] {
  const key = value(before + secretKeys.privateKey);
  const password = value(before + secretKeys.password);
  const passphrase = value(before + secretKeys.passphrase);
  return {
    ...(password === undefined ? {} : { password }),
    ...(key === undefined
      ? {}
      : { privateKey: { contents: key, ...(passphrase === undefined ? {} : { passphrase }) } }),
  };
}
