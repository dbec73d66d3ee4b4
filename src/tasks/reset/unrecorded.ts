// What of bke itself is on a host and in no ledger: the mark in the files it writes is the proof, names count only beside one.
import { markedLines } from '../../host/changes/hosts-entry.ts';
import type { Host } from '../../host/host.ts';
import type { LedgerResource, LedgerView } from '../../host/ledger/ledger.ts';
import { type KnownPath, kubernetesPaths, sharedFolders } from '../../host/state/known-paths.ts';
import { isWithin } from '../../host/state/mounts.ts';
import { unitFolder } from '../../host/systemd.ts';
import { kernelValuesFile } from '../node/environment.ts';
import { kubeletKernelValues, kubeProxyKernelValues } from '../node/kernel-values.ts';
import { kubeletFiles } from '../node/kubelet-config.ts';
import { programsDir } from '../node/programs.ts';
import { reservedPortsFile } from '../services/reserved-ports.ts';
import { broughtPrograms, formerPrograms, installedPrograms, leadsToPrograms } from './former-program.ts';
import { kernelValueOrNone, readBootID, readLeftRecord } from './left-record.ts';
import { isMarked, markablePaths, namedPaths, ownFolders, runtimeUnit, wantedLink } from './own-paths.ts';
import type { Left, ResetFlags } from './reset-plan.ts';
import { runtimePaths, unprovenPlugins } from './unrecorded-runtime.ts';
import { changePath } from './select.ts';
import { servicesStand } from './standing.ts';

export interface UnrecordedLines {
  /** Something of bke is here that no ledger tells of: names count as well as marks. */
  readonly byName: boolean;
  /** Files by whose mark the rest is known; they go last. */
  readonly proofs: readonly string[];
  /** Marked files the ledger answers for: once it is undone they are what was there before bke. */
  readonly answered: readonly string[];
  /** Lines of /etc/hosts exactly as bke writes them. */
  readonly hosts: readonly string[];
  /** The services' system user, exactly as bke makes it. */
  readonly user: string | undefined;
  /** bke may have made these, and nothing proves it: they stay and the reset can't call the host clean. */
  readonly unproven: readonly Left[];
}

export interface Unrecorded {
  readonly paths: readonly KnownPath[];
  readonly unrecorded: UnrecordedLines;
}

async function filterMarked(host: Host, paths: readonly KnownPath[]): Promise<KnownPath[]> {
  const marked = await Promise.all(paths.map(({ path }) => isMarked(host, path)));
  return paths.filter((_path, index) => marked[index]);
}

/** Links people and services call bke's programs by. */
async function programLinks(host: Host): Promise<KnownPath[]> {
  const folder = '/usr/local/bin';
  const found: KnownPath[] = [];
  for (const name of await host.files.list(folder)) {
    const path = `${folder}/${name}`;
    if (!(await leadsToPrograms(host, path))) continue;
    found.push({ path, kind: 'file', what: 'link to a program bke installed' });
  }
  return found;
}

const programFolders =
  /^(bke|registry|distribution|containerd|runc|crictl|cni-plugins|k3s|kubeadm|kubelet|kubectl|etcdctl|helm)-v?\d/;

/** Without a ledger nothing tells who needs a program: they go only with everything. */
async function programs(host: Host): Promise<KnownPath[]> {
  const names = (await host.files.list(programsDir).catch(() => [])).filter((name) => programFolders.test(name));
  const folders = names.map((name): KnownPath => {
    return { path: `${programsDir}/${name}`, kind: 'tree', what: 'program bke installed' };
  });
  return [...folders, ...(await programLinks(host))];
}

function isOwnUser(line: string): boolean {
  const [name, , uid, , , home, shell] = line.split(':');
  return name === 'bke' && Number(uid) < 1000 && home === '/nonexistent' && /\/(nologin|false)$/.test(shell ?? '');
}

async function readText(host: Host, path: string): Promise<string> {
  return (await host.files.read(path).catch(() => undefined))?.toString('latin1') ?? '';
}

async function ownUser(host: Host): Promise<string | undefined> {
  return (await readText(host, '/etc/passwd')).split('\n').find(isOwnUser)?.split(':')[0];
}

function answersFor(resources: readonly LedgerResource[], path: string): boolean {
  return resources.some(({ record: { last } }) => {
    const top = changePath(last);
    return top !== undefined && (last.kind === 'zone' ? isWithin(path, top) : path === top);
  });
}

function hostsLinesOf(resources: readonly LedgerResource[]): Set<string> {
  return new Set(
    resources.flatMap(({ record: { versions } }) =>
      versions.flatMap(({ change }) =>
        change.kind === 'hosts-entry' ? [`${change.address} ${change.names.join(' ')}`] : [],
      ),
    ),
  );
}

/** Files of kernel values: they tell what bke set, but what was before is written nowhere else. */
const kernelFiles: readonly string[] = [reservedPortsFile, kernelValuesFile];

/** The kernel itself begins with it: nothing of bke's stays. */
function isKernelDefault(name: string, value: string): boolean {
  const isOn = name.startsWith('net.bridge.') && value === '1';
  return isOn || name.startsWith('kernel.keys.') || (name === 'vm.panic_on_oom' && value === '0');
}

async function unprovenValues(host: Host, resources: readonly LedgerResource[], proofs: string[]): Promise<Left[]> {
  const recorded = new Set(resources.flatMap(({ record: { last } }) => (last.kind === 'sysctl' ? [last.name] : [])));
  const bootID = await readBootID(host);
  const found: Left[] = [];
  for (const [name, value] of await setValues(host, proofs)) {
    const live = await kernelValueOrNone(host, name);
    if (recorded.has(name) || live !== value || isKernelDefault(name, live)) continue;
    const why = `bke set it to ${live}, and the record of what it was before is lost; it is gone with the next boot`;
    const trace = { type: 'kernel-value', name, value: live, bootID } as const;
    found.push({ what: `kernel value ${name}`, why, see: `sysctl ${name}`, trace });
  }
  return found;
}

/** Those of bke's files, and where it ran a kubelet those that kubelet and kube-proxy set. */
async function setValues(host: Host, proofs: readonly string[]): Promise<(readonly [string, string])[]> {
  const isNode = kubeletFiles.some((path) => proofs.includes(path));
  const ofNode = { ...kubeletKernelValues({}), ...kubeProxyKernelValues({}, { cpus: 0, buckets: 0 }) };
  const values = isNode ? Object.entries(ofNode) : [];
  for (const file of kernelFiles.filter((path) => proofs.includes(path))) {
    const lines = (await readText(host, file)).matchAll(/^([\w.-]+) = (.+)$/gm);
    for (const [, name = '', value = ''] of lines) values.push([name, value.trim()]);
  }
  return values;
}

const none: UnrecordedLines = { byName: false, proofs: [], answered: [], hosts: [], user: undefined, unproven: [] };

export interface LookOptions {
  readonly flags: ResetFlags;
  /** What an earlier look of this reset found: the second must not forget it. */
  readonly byName?: boolean;
  /** Paths the ledger has given back as they were before bke. */
  readonly givenBack?: ReadonlySet<string>;
}

/** Of the marked files those the ledger answers for, and the others: they prove that it does not tell of all. */
async function splitMarked(
  host: Host,
  resources: readonly LedgerResource[],
  { flags, givenBack }: LookOptions,
): Promise<{ marked: KnownPath[]; answered: string[] }> {
  const all = await filterMarked(host, markablePaths(flags));
  const answered = all.flatMap(({ path }) => (answersFor(resources, path) ? [path] : []));
  const marked = all.filter(({ path }) => !answered.includes(path) && givenBack?.has(path) !== true);
  return { marked, answered };
}

/** A link or device in place of the file is none of bke's doing. */
async function openLines(host: Host, resources: readonly LedgerResource[]): Promise<string[]> {
  const known = hostsLinesOf(resources);
  const lines = await markedLines(host).catch(() => []);
  return lines.filter((line) => !known.has(line.split(' # bke: ')[0] ?? ''));
}

interface ByName {
  readonly flags: ResetFlags;
  readonly marked: readonly KnownPath[];
  /** Nothing of bke's stays that would still need what its parts share. */
  readonly last: boolean;
}

async function pathsByName(host: Host, { flags, marked, last }: ByName): Promise<KnownPath[]> {
  const isUnit = ({ path }: KnownPath): boolean => path.startsWith(`${unitFolder}/`);
  const links = marked.filter(isUnit).map(({ path, what }): KnownPath => {
    return { path: wantedLink(path), kind: 'file', what };
  });
  return [
    ...namedPaths(flags, last),
    ...(last ? await programs(host) : []),
    ...(marked.some(({ path }) => path === runtimeUnit) ? await runtimePaths(host) : []),
    ...links,
    ...marked,
    ...ownFolders(flags, last),
  ];
}

async function unprovenThings(host: Host, resources: readonly LedgerResource[], proofs: string[]): Promise<Left[]> {
  const isRecorded = (path: string): boolean => answersFor(resources, path);
  const plugins = proofs.includes(runtimeUnit) ? await unprovenPlugins(host, isRecorded) : [];
  return [...plugins, ...(await unprovenValues(host, resources, proofs))];
}

const byPath = new Map([...kubernetesPaths, ...sharedFolders].map((known) => [known.path, known]));

/** What the host shows now, and what earlier resets could not take away: by then nothing may have shown it any more. */
export async function unrecordedOf(host: Host, ledger: LedgerView, options: LookOptions): Promise<Unrecorded> {
  const { paths, unrecorded } = await shownOf(host, ledger, options);
  const remembered = await readLeftRecord(host);
  const known = new Set(paths.map(({ path }) => path));
  const missing = remembered.paths.filter(({ path }) => !known.has(path));
  const told = new Set(unrecorded.unproven.map(({ what }) => what));
  return {
    paths: [...paths, ...missing.map((one): KnownPath => ({ ...(byPath.get(one.path) ?? one), remembered: true }))],
    unrecorded: {
      ...unrecorded,
      unproven: [...unrecorded.unproven, ...remembered.left.filter(({ what }) => !told.has(what))],
    },
  };
}

/** bke's own programs, which need no other proof than their name and content. */
async function programsOfOwn(
  host: Host,
  flags: ResetFlags,
  resources: readonly LedgerResource[],
): Promise<KnownPath[]> {
  const isRecorded = (path: string): boolean => answersFor(resources, path);
  const whole = flags.all && flags.mount;
  return [
    ...(whole ? [...(await formerPrograms(host)), ...(await installedPrograms(host, isRecorded))] : []),
    ...(flags.all ? await broughtPrograms(host) : []),
  ];
}

/** Looks always: a ledger can have lost its end and not know it. Where it answers for all that is marked, its word counts and no name does. */
async function shownOf(host: Host, ledger: LedgerView, options: LookOptions): Promise<Unrecorded> {
  const { flags } = options;
  const last = flags.all && (flags.mount || !(await servicesStand(host, ledger)));
  const resources = ledger.resources();
  const { marked, answered } = await splitMarked(host, resources, options);
  const hosts = last ? await openLines(host, resources) : [];
  const isDamaged = ledger.exists && ledger.damaged.length > 0;
  const byName = options.byName === true || isDamaged || marked.length + hosts.length > 0;
  const former = await programsOfOwn(host, flags, resources);
  if (!byName) return { paths: former, unrecorded: { ...none, answered } };
  const proofs = marked.map(({ path }) => path);
  const user = last ? await ownUser(host) : undefined;
  const unproven = await unprovenThings(host, resources, proofs);
  return {
    paths: [...former, ...(await pathsByName(host, { flags, marked, last }))],
    unrecorded: { byName, proofs, answered, hosts, user, unproven },
  };
}
