// Cluster API's bootstrap data as something that can be run: rendered, read and checked; everything that is wrong with it is told at once.
import type { z } from 'zod';
import { type Path, readYamlSource, type YamlSource } from '../../../config/yaml-source.ts';
import type { Owner } from '../../../host/changes/change.ts';
import { decodeContent } from './content.ts';
import { inOrder, type Problem, problemsOf, refused, withField } from './problems.ts';
import { type NodeMetadata, renderData } from './render.ts';
import { cloudConfig } from './schema.ts';

/** A line for a shell, or a program with its arguments. */
export type Command = string | readonly string[];

export interface FileToWrite {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
  readonly owner: Owner;
  readonly append: boolean;
}

export interface UserToMake {
  readonly name: string;
  readonly gecos?: string;
  readonly groups: readonly string[];
  readonly home?: string;
  readonly shell?: string;
  /** As /etc/shadow has it: a secret. */
  readonly passwordHash?: string;
  readonly primaryGroup?: string;
  readonly lockPassword: boolean;
  readonly sudo: readonly string[];
  readonly authorizedKeys: readonly string[];
}

export interface BootstrapData {
  readonly files: readonly FileToWrite[];
  readonly bootcmd: readonly Command[];
  readonly runcmd: readonly Command[];
  readonly users: readonly UserToMake[];
  /** undefined: the clock is left as it is. */
  readonly timeServers: readonly string[] | undefined;
  /** What was read, with all values in their places: tells whether two are the same. A secret. */
  readonly text: string;
}

/** Of all files together, unpacked. */
const mostContentBytes = 64 << 20;

/** @throws BkeError BKE_BOOTSTRAP_DATA_INVALID with every problem and its place; nothing of a value is in it */
export function readBootstrapData(data: string, metadata: NodeMetadata): BootstrapData {
  const text = renderData(data, metadata);
  const read = readYamlSource(text);
  if ('faults' in read) throw refused(read.faults.map(({ line, message }) => `line ${line}: ${message}`));
  const { source } = read;
  const parsed = cloudConfig.safeParse(asTexts(source.value, [], source), { reportInput: true });
  const problems = [
    ...(parsed.error?.issues ?? []).flatMap((issue) => problemsOf(issue, source)),
    ...plainNumberModes(source),
  ];
  if (!parsed.success || problems.length > 0) throw refused(inOrder(problems));
  return meaningOf(parsed.data, source, text);
}

/** Numbers and booleans as they were written: no field wants a number, and YAML 1.1 and 1.2 take many of them differently. */
function asTexts(value: unknown, path: Path, source: YamlSource): unknown {
  if (Array.isArray(value)) return value.map((item, index) => asTexts(item, [...path, index], source));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, item]) => [key, asTexts(item, [...path, key], source)]));
  }
  return typeof value === 'string' || value === null ? value : source.writtenAt(path);
}

/** `permissions: 644` is decimal to cloud-init: hardly what was meant. Octal with a leading 0 is the same to everybody. */
function plainNumberModes(source: YamlSource): Problem[] {
  const files: unknown =
    typeof source.value === 'object' && source.value !== null ? Reflect.get(source.value, 'write_files') : [];
  return (Array.isArray(files) ? files : []).flatMap((_, index) => {
    const path = ['write_files', index, 'permissions'];
    const written = source.writtenAt(path);
    if (written === undefined || written.startsWith('0')) return [];
    return [{ line: source.positionOf(path).line, message: withField(path, "must be in quotes, such as '0644'") }];
  });
}

type Parsed = z.infer<typeof cloudConfig>;

function meaningOf(parsed: Parsed, source: YamlSource, text: string): BootstrapData {
  return {
    files: filesOf(parsed.write_files ?? [], source),
    bootcmd: parsed.bootcmd ?? [],
    runcmd: parsed.runcmd ?? [],
    users: (parsed.users ?? []).map(userOf),
    timeServers: parsed.ntp?.enabled === false ? undefined : (parsed.ntp?.servers ?? undefined),
    text,
  };
}

/** Decoded last: only of what is right otherwise. */
function filesOf(files: NonNullable<Parsed['write_files']>, source: YamlSource): FileToWrite[] {
  const problems: Problem[] = [];
  const decoded = files.map((file, index) => {
    const content = decodeContent(file.content ?? '', file.encoding ?? '');
    const path = ['write_files', index, 'content'];
    if ('message' in content) {
      problems.push({ line: source.positionOf(path).line, message: withField(path, content.message) });
    }
    return { file, bytes: 'message' in content ? Buffer.alloc(0) : content };
  });
  const total = decoded.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > mostContentBytes) problems.push({ line: 1, message: 'write_files: the files together are too large' });
  if (problems.length > 0) throw refused(inOrder(problems));
  return decoded.map(({ file, bytes }) => ({
    path: file.path,
    content: bytes,
    mode: file.permissions ?? 0o644,
    owner: file.owner ?? { user: 'root', group: 'root' },
    append: file.append ?? false,
  }));
}

function userOf(user: NonNullable<Parsed['users']>[number]): UserToMake {
  return {
    name: user.name,
    groups: user.groups ?? [],
    // As cloud-init: a password is locked unless told.
    lockPassword: user.lock_passwd ?? true,
    sudo: user.sudo ?? [],
    authorizedKeys: user.ssh_authorized_keys ?? [],
    ...(user.gecos ? { gecos: user.gecos } : {}),
    ...(user.homedir ? { home: user.homedir } : {}),
    ...(user.shell ? { shell: user.shell } : {}),
    ...(user.passwd ? { passwordHash: user.passwd } : {}),
    ...(user.primary_group ? { primaryGroup: user.primary_group } : {}),
  };
}
