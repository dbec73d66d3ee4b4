// Reads OpenSSH's known_hosts format (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT): plain, hashed and [host]:port names, wildcards, markers.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { keyBlob } from '../../lib/ssh-public-key.ts';

type Marker = 'none' | 'revoked' | 'cert-authority';

const markers = new Map<string | undefined, Marker>([
  [undefined, 'none'],
  ['@revoked', 'revoked'],
  ['@cert-authority', 'cert-authority'],
]);

export interface KnownHostEntry {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly marker: Marker;
  /** The first field, as written. */
  readonly names: string;
  readonly type: string;
  readonly blob: Buffer;
}

/** Lines that are no entry (comments, SSH 1 keys, damaged ones) are left out: they cannot vouch for a host. */
export function parseKnownHosts(text: string, file: string): KnownHostEntry[] {
  return text.split('\n').flatMap((line, index) => parseLine(line.trim(), file, index + 1) ?? []);
}

function parseLine(text: string, file: string, line: number): KnownHostEntry | undefined {
  if (text === '' || text.startsWith('#')) return undefined;
  const fields = text.split(/[ \t]+/);
  const marker = fields[0]?.startsWith('@') === true ? fields.shift() : undefined;
  const kind = markers.get(marker);
  if (kind === undefined) return undefined;
  const [names, type, base64] = fields;
  const blob = keyBlob(type, base64);
  if (names === undefined || type === undefined || blob === undefined) return undefined;
  return { file, line, marker: kind, names, type, blob };
}

/** The name OpenSSH looks up: the address, or `[address]:port` off port 22. */
export function lookupName(address: string, port: number): string {
  const lower = address.toLowerCase();
  return port === 22 ? lower : `[${lower}]:${port}`;
}

/** true where the entry is about `name` (see lookupName). */
export function entryMatches(entry: KnownHostEntry, name: string): boolean {
  if (entry.names.startsWith('|1|')) return hashMatches(entry.names, name);
  let found = false;
  for (const pattern of entry.names.split(',')) {
    const negated = pattern.startsWith('!');
    if (!wildcardMatches(negated ? pattern.slice(1) : pattern, name)) continue;
    if (negated) return false;
    found = true;
  }
  return found;
}

function hashMatches(field: string, name: string): boolean {
  const [salt, hash] = field.slice('|1|'.length).split('|');
  if (salt === undefined || hash === undefined) return false;
  const wanted = Buffer.from(hash, 'base64');
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return wanted.length === actual.length && timingSafeEqual(wanted, actual);
}

/** `*` and `?` only, as OpenSSH has it; linear in pattern and name, since the pattern comes from a file. */
function wildcardMatches(pattern: string, name: string): boolean {
  const lower = pattern.toLowerCase();
  let p = 0;
  let n = 0;
  let star = -1;
  let resume = 0;
  while (n < name.length) {
    if (lower[p] === '*') {
      star = p++;
      resume = n;
    } else if (p < lower.length && (lower[p] === '?' || lower[p] === name[n])) {
      p += 1;
      n += 1;
    } else if (star >= 0) {
      p = star + 1;
      n = ++resume;
    } else return false;
  }
  while (lower[p] === '*') p += 1;
  return p === lower.length;
}
