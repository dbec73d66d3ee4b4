// Logins: each host has one way in, nothing of a secret is lost, and no chain of bastions leads in a circle.
import { listed } from '../../lib/text.ts';
import type { Finding, WrittenSource } from '../read-yaml.ts';
import type { ClusterSketch, SshSketch } from './sketch.ts';
import { type BastionFile, loginFields, type SshFile } from './ssh-file.ts';

/** Each is a connection inside the one before it. */
const mostBastions = 4;

type LoginField = (typeof loginFields)[number];
type Path = Finding['path'];
type Login = Pick<SshFile, LoginField | 'passphraseFile'>;

export function sshFindings({ defaultSsh, hosts }: ClusterSketch, source: WrittenSource): Finding[] {
  const inherited = givenLogins(defaultSsh).length > 0;
  return [
    ...blockFindings(defaultSsh, ['spec', 'defaults', 'ssh'], source),
    ...hosts.flatMap(({ ssh, index, name }) => {
      const path = ['spec', 'hosts', index, 'ssh'];
      const found = blockFindings(ssh, path, source);
      if (inherited || ssh.wrongLogin || givenLogins(ssh).length > 0) return found;
      const message = `${name ?? 'the host'} has no way to log in: give ${listed(loginFields, 'or')}`;
      return [...found, { path, message }];
    }),
  ];
}

/** Those that say something: an empty password and `agent: false` are as if they were not there. */
export function givenLogins(login: Login): LoginField[] {
  return loginFields.filter((field) => login[field] !== undefined && login[field] !== '' && login[field] !== false);
}

function blockFindings(ssh: SshSketch, path: Path, source: WrittenSource): Finding[] {
  const { sudo = {} } = ssh;
  const sudoPath = [...path, 'sudo', 'password'];
  const both = (sudo.password ?? '') !== '' && sudo.passwordFile !== undefined;
  return [
    ...loginFindings(ssh, path, source),
    ...cutFindings(sudoPath, source),
    ...lineFindings(sudo.password, sudoPath),
    ...(both ? [{ path: sudoPath, message: 'password and passwordFile exclude each other' }] : []),
    ...bastionFindings(ssh.bastion, [...path, 'bastion'], { source, before: [] }),
  ];
}

function loginFindings(login: Login, path: Path, source: WrittenSource): Finding[] {
  const given = givenLogins(login);
  const passwordPath = [...path, 'password'];
  const findings = [...cutFindings(passwordPath, source), ...lineFindings(login.password, passwordPath)];
  if (given.length > 1) {
    findings.push({
      path: [...path, given[1] ?? ''],
      message: `${listed(given)} exclude each other: give one of them`,
    });
  }
  if (login.passphraseFile !== undefined && login.privateKeyFile === undefined) {
    findings.push({ path: [...path, 'passphraseFile'], message: 'needs privateKeyFile beside it' });
  }
  return findings;
}

/** A block of text ends with a line end, which is no part of any password. */
function lineFindings(password: string | undefined, path: Path): Finding[] {
  return password?.includes('\n') === true
    ? [{ path, message: 'has a line end: write it on one line, in quotes' }]
    : [];
}

function cutFindings(path: Path, source: WrittenSource): Finding[] {
  if (!source.isCutByComment(path)) return [];
  return [
    {
      path,
      message:
        'a comment follows it on the line: put the password in quotes if # belongs to it, else the comment on a line of its own',
    },
  ];
}

interface Chain {
  readonly source: WrittenSource;
  readonly before: readonly string[];
}

function bastionFindings(bastion: BastionFile | undefined, path: Path, { source, before }: Chain): Finding[] {
  if (bastion === undefined) return [];
  if (before.length >= mostBastions)
    return [{ path, message: `more than ${mostBastions} bastions one behind the other` }];
  const place = `${bastion.address} port ${bastion.port ?? 22}`;
  if (before.includes(place)) return [{ path: [...path, 'address'], message: `${place} is its own bastion` }];
  return [
    ...loginFindings(bastion, path, source),
    ...bastionFindings(bastion.bastion, [...path, 'bastion'], { source, before: [...before, place] }),
  ];
}
