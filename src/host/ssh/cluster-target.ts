// How the hosts of a cluster.yaml are reached: its `ssh` fields as a target, with the secrets that stand in files.
import { join } from 'node:path';
import type { BastionConfig, HostConfig, LoginConfig, SshConfig } from '../../config/cluster/config.ts';
import { type FilePlace, resolveNamedFile } from '../../config/cluster/named-files.ts';
import type { SshTarget } from './target.ts';

export interface TargetSources {
  readonly place: FilePlace;
  /** Contents of the files that cluster.yaml names, by name (readNamedFiles). */
  readonly secrets: ReadonlyMap<string, string>;
  /** SSH_AUTH_SOCK of whoever runs bke. */
  readonly agentSocket: string | undefined;
}

export function sshTargetOf({ name, address, ssh }: HostConfig, sources: TargetSources): SshTarget {
  return { ...targetOf(name, address, ssh, { sources, field: 'ssh' }), ...sudoOf(ssh, sources) };
}

/** As OpenSSH looks for them. The first one is where new keys go. */
export function knownHostsFiles(home: string | undefined): string[] {
  const own = home === undefined ? [] : [join(home, '.ssh/known_hosts'), join(home, '.ssh/known_hosts2')];
  return [...own, '/etc/ssh/ssh_known_hosts'];
}

interface Part {
  readonly sources: TargetSources;
  /** Where it stands, for messages. */
  readonly field: string;
}

function targetOf(name: string, address: string, login: LoginConfig, { sources, field }: Part): SshTarget {
  const { user, port, hostKeys, bastion } = login;
  return {
    name,
    field,
    address,
    port,
    user,
    hostKeys,
    auth: authOf(login, sources),
    knownHostsFiles: knownHostsFiles(sources.place.home),
    ...(bastion === undefined ? {} : { bastion: bastionOf(bastion, login, { sources, field: `${field}.bastion` }) }),
  };
}

/** Without a way in of its own it takes that of the host behind it. */
function bastionOf(bastion: BastionConfig, behind: LoginConfig, part: Part): SshTarget {
  const { password, passwordFile, privateKeyFile, agent } = bastion;
  const hasOwn = [password, passwordFile, privateKeyFile, agent].some((field) => field !== undefined);
  const login = hasOwn ? bastion : { ...loginOf(behind), ...bastion };
  return targetOf(`bastion ${bastion.address}`, bastion.address, login, part);
}

function loginOf({ password, passwordFile, privateKeyFile, passphraseFile, agent }: LoginConfig): Partial<LoginConfig> {
  return {
    ...(password === undefined ? {} : { password }),
    ...(passwordFile === undefined ? {} : { passwordFile }),
    ...(privateKeyFile === undefined ? {} : { privateKeyFile }),
    ...(passphraseFile === undefined ? {} : { passphraseFile }),
    ...(agent === undefined ? {} : { agent }),
  };
}

function authOf(login: LoginConfig, { place, secrets, agentSocket }: TargetSources): SshTarget['auth'] {
  const { password, passwordFile, privateKeyFile, passphraseFile, agent } = login;
  if (agent === true) return { agentSocket: agentSocket ?? '' };
  if (privateKeyFile === undefined) return { password: password ?? secretOf(passwordFile, secrets) };
  // By its path: what is wrong with a key is told with the name of its file.
  const file = resolveNamedFile(privateKeyFile, place);
  return { privateKey: { file, passphrase: secretOf(passphraseFile, secrets) } };
}

function sudoOf({ sudo }: SshConfig, { secrets }: TargetSources): Pick<SshTarget, 'sudo'> {
  if (sudo === undefined) return {};
  return { sudo: { password: sudo.password ?? secretOf(sudo.passwordFile, secrets) } };
}

function secretOf(name: string | undefined, secrets: ReadonlyMap<string, string>): string | undefined {
  return name === undefined ? undefined : secrets.get(name);
}
