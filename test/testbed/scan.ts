// The independent scan of a machine: everything a program could have changed, read by plain tools, none of them bke's.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { TestbedError } from './run.ts';

/** Category (`files`, `sysctl`, …) -> item -> its state as text. */
export type Scan = Record<string, Record<string, string>>;

/** A machine that runs a script as root. */
export interface Scannable {
  output(script: string, options?: { timeout?: number }): Promise<string>;
}

const scanLimit = 300;

/** Files that a running machine changes by itself, and a person's shell. */
const volatileFiles = [
  /^\/root\/\.bash_history$/,
  /^\/var\/lib\/systemd\/random-seed$/,
  /^\/var\/lib\/systemd\/(timers|timesync)(\/|$)/,
];

/** Entries of /run whose attributes or presence a running machine changes by itself. */
const volatileRun = [/^\/run\/(utmp|lock|sudo|user|log)$/, /^\/run\/systemd\/transient\/.*\.scope$/];

/** Settings that are counters, samples or identifiers of the moment. */
const volatileSysctl = [
  /^fs\.(dentry-state|file-nr|inode-nr|inode-state|aio-nr)$/,
  /^fs\.quota\./,
  /^kernel\.(ns_last_pid|perf_event_max_sample_rate|random\.(uuid|boot_id|entropy_avail))$/,
  /^kernel\.pty\.nr$/,
  /^net\.netfilter\.nf_conntrack_count$/,
  // Of the machine that carries all hosts.
  /^user\.max_inotify_instances$/,
];

/** Units that come and go with sessions and boots. */
const volatileUnits = [
  /\.scope$/,
  /^session-/,
  /^user(-runtime-dir)?@/,
  /^run-credentials-/,
  /^proc-sys-fs-binfmt_misc\./,
];

/** Mount points that come and go by themselves. */
const volatileMounts = [/^\/run\/credentials\//, /^\/run\/user\//, /^\/proc\/sys\/fs\/binfmt_misc$/];

/** Scans a machine. Two scans of an idle machine are equal. */
export async function scanMachine(machine: Scannable): Promise<Scan> {
  const script = await readFile(path.join(import.meta.dirname, 'scan.sh'), 'utf8');
  const sections = splitSections(await machine.output(script, { timeout: scanLimit }));
  if (!sections.has('end')) throw new TestbedError('the scan broke off');
  const text = (name: string) => sections.get(name) ?? '';
  const lines = (name: string) =>
    text(name)
      .split('\n')
      .filter((line) => line.trim() !== '');
  return {
    files: parseFiles(text('files'), parseDigests(text('digests'))),
    run: keyed(lines('run'), /^(\/run.*?) (\S+.*)$/, volatileRun),
    'unit files': keyed(lines('unit-files'), /^(\S+)\s+(\S+)/, volatileUnits),
    units: keyed(lines('units'), /^(\S+)\s+(\S+\s+\S+\s+\S+)/, volatileUnits),
    users: keyed(lines('users'), /^([^:]+):(.*)$/),
    groups: keyed(lines('groups'), /^([^:]+):(.*)$/),
    sysctl: keyed(lines('sysctl'), /^(\S+) = (.*)$/, volatileSysctl),
    links: parseLinks(text('links')),
    addresses: parseAddresses(text('addresses')),
    routes: counted(lines('routes').map((line) => line.trim())),
    rules: counted(lines('rules').map((line) => line.trim())),
    firewall: counted(
      lines('firewall')
        .map(withoutCounters)
        .filter((line) => line !== ''),
    ),
    mounts: counted(lines('mounts').flatMap(parseMount)),
    swaps: counted(lines('swaps')),
    modules: counted(lines('modules')),
    listeners: counted(lines('listeners').map(parseListener)),
    processes: counted(lines('processes')),
    cgroups: counted(lines('cgroups')),
  };
}

function splitSections(output: string): Map<string, string> {
  const sections = new Map<string, string>();
  for (const part of output.split('\n@@ ').slice(1)) {
    const end = part.indexOf('\n');
    const name = end === -1 ? part : part.slice(0, end);
    sections.set(name.trim(), end === -1 ? '' : part.slice(end + 1));
  }
  return sections;
}

/** The script turned NUL into line ends and line ends into \x02, so that any file name keeps its line. */
function parseDigests(text: string): Map<string, string> {
  const digests = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, digest, name] = /^\\?([0-9a-f]{64}) [ *](.*)$/s.exec(line) ?? [];
    if (digest !== undefined && name !== undefined) digests.set(name.replaceAll('\x02', '\n'), digest);
  }
  return digests;
}

const fieldsPerFile = 7;

function parseFiles(text: string, digests: Map<string, string>): Record<string, string> {
  const fields = text.split('\0');
  const files: Record<string, string> = {};
  for (let at = 0; at + fieldsPerFile <= fields.length; at += fieldsPerFile) {
    const [name = '', type = '', mode, user, group, size, target] = fields.slice(at, at + fieldsPerFile);
    if (volatileFiles.some((pattern) => pattern.test(name))) continue;
    const owner = `${mode} ${user}:${group}`;
    const content = { f: `${size} bytes sha256:${digests.get(name) ?? 'unread'}`, l: `-> ${target}` }[type] ?? '';
    files[name] = `${fileTypes[type] ?? type} ${type === 'l' ? '' : owner} ${content}`.replaceAll(/ +/g, ' ').trim();
  }
  return files;
}

const fileTypes: Record<string, string> = {
  f: 'file',
  d: 'directory',
  l: 'link',
  p: 'pipe',
  s: 'socket',
  b: 'block device',
  c: 'device',
};

function keyed(lines: string[], pattern: RegExp, volatile: RegExp[] = []): Record<string, string> {
  const items: Record<string, string> = {};
  for (const line of lines) {
    const [, key, value] = pattern.exec(line) ?? [];
    if (key === undefined || value === undefined || volatile.some((other) => other.test(key))) continue;
    items[key] = value.replaceAll(/\s+/g, ' ').trim();
  }
  return items;
}

/** Lines as items; what stands there several times says how often. */
function counted(lines: string[]): Record<string, string> {
  const items: Record<string, string> = {};
  for (const line of lines) items[line] = `${Number((items[line] ?? '0').replace(/ .*/, '')) + 1} times`;
  for (const [line, times] of Object.entries(items)) if (times === '1 times') items[line] = 'present';
  return items;
}

const linkList = z.array(
  z.object({
    ifname: z.string().optional(),
    mtu: z.int().optional(),
    operstate: z.string().optional(),
    address: z.string().optional(),
    master: z.string().optional(),
    linkinfo: z.object({ info_kind: z.string().optional() }).optional(),
    addr_info: z
      .array(z.object({ family: z.string(), local: z.string().optional(), prefixlen: z.int(), scope: z.string() }))
      .optional(),
  }),
);

function parseLinks(json: string): Record<string, string> {
  const links = linkList.parse(JSON.parse(json));
  return Object.fromEntries(
    links.map(({ ifname = '?', linkinfo, operstate, mtu, address, master }) => {
      const state = [linkinfo?.info_kind ?? 'device', operstate, `mtu ${mtu}`, address, master && `master ${master}`];
      return [ifname, state.filter((part) => part !== undefined).join(' ')];
    }),
  );
}

function parseAddresses(json: string): Record<string, string> {
  const links = linkList.parse(JSON.parse(json));
  const lines = links.flatMap(({ ifname = '?', addr_info = [] }) =>
    addr_info.map(({ local, prefixlen, scope }) => `${local}/${prefixlen} dev ${ifname} scope ${scope}`),
  );
  return counted(lines);
}

/** A rule without what it counted; empty for comments. */
function withoutCounters(line: string): string {
  if (/^\S+ #/.test(line)) return '';
  return line
    .replace(/\[\d+:\d+\]/, '')
    .replaceAll(/counter packets \d+ bytes \d+/g, 'counter')
    .trimEnd();
}

/** Mount point, file system, source and options; identifiers of the moment left out. */
function parseMount(line: string): string[] {
  const [head = '', tail = ''] = line.split(' - ');
  const [, , , root = '/', point = '', options] = head.split(' ');
  const [type, source] = tail.split(' ');
  if (volatileMounts.some((pattern) => pattern.test(point))) return [];
  // systemd-nspawn mounts some files of /proc from a temporary name that is another one in each boot.
  const part = root === '/' || root.startsWith('/.#') ? '' : `[${root}]`;
  return [`${point} ${type} from ${source}${part} (${options})`];
}

function parseListener(line: string): string {
  const [protocol, , , , local] = line.split(/\s+/);
  return `${protocol} ${local}`;
}
