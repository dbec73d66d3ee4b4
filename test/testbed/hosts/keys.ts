// SSH keys: each host's own, and the bed's key that every host lets in as root.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exists } from '../files.ts';
import { run } from '../run.ts';
import type { Bed } from './bed.ts';

/** A host's public key. */
export interface HostKey {
  /** `ssh-ed25519` or `ecdsa-sha2-nistp256`. */
  type: string;
  /** `SHA256:…` */
  fingerprint: string;
  /** Type and key in base64, as in a known_hosts line after the name. */
  line: string;
}

const hostKeyTypes = ['ed25519', 'ecdsa'];

/** Private key that opens every host of the bed as root; made once per bed. */
export async function ownKey(bed: Bed): Promise<string> {
  const file = path.join(bed.folder, 'id_ed25519');
  if (!(await exists(file))) {
    await mkdir(bed.folder, { recursive: true, mode: 0o755 });
    await run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'testbed', '-f', file]);
  }
  return file;
}

/** Makes the host's keys in its /etc/ssh. */
export async function makeHostKeys(folder: string, name: string): Promise<void> {
  for (const type of hostKeyTypes) {
    const file = path.join(folder, `ssh_host_${type}_key`);
    await run(['ssh-keygen', '-q', '-t', type, '-N', '', '-C', `root@${name}`, '-f', file]);
  }
}

/** Lets the bed's key in as root. */
export async function authorizeOwnKey(bed: Bed, rootHome: string): Promise<void> {
  const folder = path.join(rootHome, '.ssh');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const key = await readFile(`${await ownKey(bed)}.pub`, 'utf8');
  await writeFile(path.join(folder, 'authorized_keys'), key, { mode: 0o600 });
}

/** The host's public keys, ed25519 first. */
export async function readHostKeys(root: string): Promise<HostKey[]> {
  const keys: HostKey[] = [];
  for (const type of hostKeyTypes) {
    const file = path.join(root, `etc/ssh/ssh_host_${type}_key.pub`);
    const line = (await readFile(file, 'utf8')).trim().split(' ').slice(0, 2).join(' ');
    const { stdout } = await run(['ssh-keygen', '-l', '-E', 'sha256', '-f', file]);
    keys.push({ type: line.split(' ')[0] ?? '', fingerprint: stdout.split(' ')[1] ?? '', line });
  }
  return keys;
}
