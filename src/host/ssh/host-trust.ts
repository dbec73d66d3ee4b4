// Decides whether a host's key may be trusted: the target's own hostKeys first, else known_hosts. No credential is sent before that.
import { readFile } from 'node:fs/promises';
import { BkeError } from '../../lib/errors.ts';
import { fingerprintOf, keyType, parseHostKey } from '../../lib/ssh-public-key.ts';
import { errorField, toError } from '../../lib/thrown.ts';
import { type KnownHostEntry, entryMatches, lookupName, parseKnownHosts } from './known-hosts.ts';
import type { HostKey, SshTarget } from './target.ts';

/** A key that is known for the host, and where that is written. */
export interface KnownKey {
  readonly fingerprint: string;
  readonly type: string | undefined;
  readonly where: string;
  /** Set where it stands in a known_hosts file. */
  readonly file?: string;
}

export type Verdict =
  | { readonly kind: 'known' }
  | { readonly kind: 'unknown'; readonly note?: string }
  | { readonly kind: 'changed'; readonly known: readonly KnownKey[] }
  | { readonly kind: 'revoked'; readonly where: string };

/** For a person at the host's own console. */
export const printKeys = 'for f in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf "$f"; done';

export interface HostTrust {
  /** Types of the keys that are known: asked for first, so that a host with several keys shows one that can be checked. */
  readonly types: readonly string[];
  /** Only a fingerprint is known: the other types of the host are worth a look before its key counts as changed. */
  readonly typeUnknown: boolean;
  /** Of the keys that would be believed. */
  readonly fingerprints: readonly string[];
  judge(key: HostKey): Verdict;
}

export function hostKeyOf(blob: Buffer): HostKey {
  return { type: keyType(blob) ?? 'unknown', fingerprint: fingerprintOf(blob), blob };
}

/** The line to add to a known_hosts file for a key that was accepted. */
export function knownHostsLine(target: SshTarget, key: HostKey): string {
  return `${lookupName(target.address, target.port)} ${key.type} ${key.blob.toString('base64')}`;
}

/** @throws BkeError BKE_SSH_HOST_KEYS_INVALID where an entry of `hostKeys` is no key. */
export async function loadTrust(target: SshTarget): Promise<HostTrust> {
  if (target.hostKeys.length > 0) return pinnedTrust(target);
  const entries: KnownHostEntry[] = [];
  const unread: string[] = [];
  for (const file of target.knownHostsFiles) {
    try {
      entries.push(...parseKnownHosts(await readFile(file, 'utf8'), file));
    } catch (error) {
      if (errorField(error, 'code') !== 'ENOENT') unread.push(`${file} could not be read: ${toError(error).message}`);
    }
  }
  return knownHostsTrust(target, entries, unread);
}

function pinnedTrust(target: SshTarget): HostTrust {
  const known = target.hostKeys.map((text, index) => pinnedKey(target, text, index));
  return {
    types: [...new Set(known.flatMap((key) => key.type ?? []))],
    typeUnknown: known.some((key) => key.type === undefined),
    fingerprints: known.map(({ fingerprint }) => fingerprint),
    judge: (key) =>
      known.some((pin) => pin.fingerprint === key.fingerprint) ? { kind: 'known' } : { kind: 'changed', known },
  };
}

function pinnedKey(target: SshTarget, text: string, index: number): KnownKey {
  const where = `ssh.hostKeys of ${target.name}`;
  const key = parseHostKey(text);
  if (key !== undefined) return { ...key, where };
  throw new BkeError(
    'BKE_SSH_HOST_KEYS_INVALID',
    `ssh.hostKeys[${index}] of ${target.name} is neither SHA256:… nor a public key line`,
    {
      host: target.name,
      hint: `Print the host's keys on the host itself: ${printKeys}`,
    },
  );
}

function knownHostsTrust(target: SshTarget, entries: readonly KnownHostEntry[], unread: readonly string[]): HostTrust {
  const name = lookupName(target.address, target.port);
  const about = entries.filter((entry) => entryMatches(entry, name));
  // OpenSSH takes a line without port for a host on another port too, but only to confirm a key, never to call it changed.
  const bare = entries.filter((entry) => target.port !== 22 && entryMatches(entry, lookupName(target.address, 22)));
  const plain = about.filter((entry) => entry.marker === 'none');
  const confirming = [...plain, ...bare.filter((entry) => entry.marker === 'none')];
  const note = [...(about.some((entry) => entry.marker === 'cert-authority') ? [certificateNote] : []), ...unread].join(
    '; ',
  );
  return {
    types: [...new Set(confirming.map((entry) => entry.type))],
    typeUnknown: false,
    fingerprints: [...new Set(confirming.map((entry) => hostKeyOf(entry.blob).fingerprint))],
    judge(key) {
      const revoked = [...about, ...bare].find((entry) => entry.marker === 'revoked' && entry.blob.equals(key.blob));
      if (revoked !== undefined) return { kind: 'revoked', where: `${revoked.file}:${revoked.line}` };
      if (confirming.some((entry) => entry.blob.equals(key.blob))) return { kind: 'known' };
      // A host known by another type of key that suddenly shows only this one is as suspicious as a new key of the same type.
      if (plain.length > 0) return { kind: 'changed', known: plain.map(knownKey) };
      return note === '' ? { kind: 'unknown' } : { kind: 'unknown', note };
    },
  };
}

const certificateNote =
  'known_hosts trusts this host by a certificate authority (@cert-authority), which bke does not support';

function knownKey(entry: KnownHostEntry): KnownKey {
  const { fingerprint } = hostKeyOf(entry.blob);
  return { fingerprint, type: entry.type, where: `${entry.file}:${entry.line}`, file: entry.file };
}
