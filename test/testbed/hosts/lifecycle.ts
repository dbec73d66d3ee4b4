// The life of hosts: up, kill, start, power off, down; each step is in the record before it is done.
import { removeTree } from '../files.ts';
import { say, secondsSince } from '../log.ts';
import { TestbedError } from '../run.ts';
import { type Bed, hostFolder } from './bed.ts';
import { killMachine, powerOffMachine, startMachine, waitForSsh } from './boot.ts';
import { plannedGroups } from './cgroups.ts';
import { makeFiles, mountFiles, removeFiles } from './filesystem.ts';
import { bridgeExists, makeNetwork, raiseInotifyLimit, refuseForeignBridge, removeNetwork } from './network.ts';
import { isAlive, ownIdentity } from './process.ts';
import { type BedRecord, changeBed, type HostOptions, type HostRecord, readRecord, writeRecord } from './record.ts';

/** Directories that can't lie on an overlay, or that hold much and change much. */
const plainDirectories = ['/var/lib/containerd', '/var/lib/kubelet', '/var/lib/etcd', '/var/log/pods'];

/** Names of hosts are DNS labels; short, because a link's name comes from them. */
const hostName = /^[a-z][a-z0-9-]{0,30}$/;

const firstAddress = 11;
const lastAddress = 250;

/** What can be chosen for new hosts. */
export interface UpOptions extends Partial<HostOptions> {
  /** They stay when this process ends, until `down`. */
  keep?: boolean;
}

/** Boots fresh hosts of these names, in place of this process's own of the same names; clears what a killed run left. */
export async function upHosts(bed: Bed, names: readonly string[], options: UpOptions = {}): Promise<HostRecord[]> {
  if (process.getuid?.() !== 0) throw new TestbedError('hosts need root: mounts, a bridge and cgroups are made');
  for (const name of names) if (!hostName.test(name)) throw new TestbedError(`${name} is no name for a host`);
  return changeBed(bed, async () => {
    const record = await readRecord(bed);
    await clearLeftovers(bed, record, names);
    await ensureNetwork(bed, record);
    await raiseInotifyLimit();
    const owner = options.keep === true ? null : await ownIdentity();
    const hosts: HostRecord[] = [];
    for (const name of names) hosts.push(await addHost(bed, record, { name, owner, options }));
    const results = await Promise.allSettled(hosts.map((host) => bootAndWait(bed, host)));
    const failure = results.find((result) => result.status === 'rejected');
    await writeRecord(bed, record);
    if (failure !== undefined) throw failure.reason;
    return hosts;
  });
}

interface NewHost {
  name: string;
  owner: HostRecord['owner'];
  options: UpOptions;
}

async function addHost(bed: Bed, record: BedRecord, { name, owner, options }: NewHost): Promise<HostRecord> {
  const host: HostRecord = {
    name,
    address: freeAddress(bed, record),
    owner,
    options: {
      defaultRoute: options.defaultRoute ?? true,
      plainDirectories: options.plainDirectories ?? plainDirectories,
    },
    nspawn: null,
    groups: await plannedGroups(bed, name),
  };
  record.hosts.push(host);
  await writeRecord(bed, record);
  await makeFiles(bed, host);
  host.nspawn = await startMachine(bed, host);
  await writeRecord(bed, record);
  return host;
}

async function bootAndWait(bed: Bed, host: HostRecord): Promise<void> {
  const start = performance.now();
  if (host.nspawn === null) throw new TestbedError(`host ${host.name} was not started`);
  await waitForSsh(bed, host, host.nspawn);
  say(`host ${host.name} is up at ${host.address} after ${secondsSince(start)}`);
}

/** Hosts whose owner is gone were left by a killed run; every other one is somebody's, unless this process made it. */
async function clearLeftovers(bed: Bed, record: BedRecord, names: readonly string[]): Promise<void> {
  const before = record.hosts;
  for (const host of before) {
    const wanted = names.includes(host.name);
    const left = host.owner !== null && !(await isAlive(host.owner));
    if (left) say(`clearing host ${host.name}, left by a run that was killed`);
    else if (wanted) await refuseOthers(host);
    if (left || wanted) await removeHost(bed, record, host);
  }
}

async function refuseOthers({ name, owner, nspawn }: HostRecord): Promise<void> {
  if (owner?.pid === process.pid) return;
  if (owner !== null) throw new TestbedError(`host ${name} is in use by process ${owner.pid}; take another name`);
  const running = nspawn !== null && (await isAlive(nspawn));
  throw new TestbedError(
    running
      ? `host ${name} is running: down ${name} first, or choose another name`
      : `host ${name} is there, switched off: start ${name}, or down ${name} first, or choose another name`,
  );
}

async function removeHost(bed: Bed, record: BedRecord, host: HostRecord): Promise<void> {
  await killMachine(bed, host);
  await removeFiles(bed, host.name);
  record.hosts = record.hosts.filter((other) => other !== host);
  await writeRecord(bed, record);
}

async function ensureNetwork(bed: Bed, record: BedRecord): Promise<void> {
  if (!record.network) {
    await refuseForeignBridge(bed);
    record.network = true;
    await writeRecord(bed, record);
  }
  await makeNetwork(bed);
}

function freeAddress(bed: Bed, record: BedRecord): string {
  const used = new Set(record.hosts.map((host) => host.address));
  for (let last = firstAddress; last <= lastAddress; last++) {
    const address = `${bed.prefix}.${last}`;
    if (!used.has(address)) return address;
  }
  throw new TestbedError(`network ${bed.network} has no free address`);
}

/** Hosts of the record; `running` tells whether their machine lives. */
export async function listHosts(bed: Bed): Promise<(HostRecord & { running: boolean })[]> {
  const { hosts } = await readRecord(bed);
  return Promise.all(
    hosts.map(async (host) => ({ ...host, running: host.nspawn !== null && (await isAlive(host.nspawn)) })),
  );
}

/** Removes hosts and everything of theirs, and the network with the last one. No names: all hosts of the bed. */
export async function downHosts(bed: Bed, names?: readonly string[]): Promise<string[]> {
  return changeBed(bed, async () => {
    const record = await readRecord(bed);
    const chosen = record.hosts.filter((host) => names === undefined || names.includes(host.name));
    for (const host of chosen) await removeHost(bed, record, host);
    if (record.hosts.length === 0 && record.network) {
      await removeNetwork(bed);
      record.network = false;
      await writeRecord(bed, record);
      await removeTree(hostFolder(bed, ''));
    }
    return chosen.map((host) => host.name);
  });
}

/** Names of the hosts that this process brought up. */
export async function ownHosts(bed: Bed): Promise<string[]> {
  const own = await ownIdentity();
  const { hosts } = await readRecord(bed);
  return hosts.filter(({ owner }) => owner?.pid === own.pid && owner.started === own.started).map(({ name }) => name);
}

/** Power loss of one host. */
export async function killHost(bed: Bed, name: string): Promise<void> {
  await changeHost(bed, name, async (host) => {
    await killMachine(bed, host);
    host.nspawn = null;
  });
}

/** Orderly power off of one host. */
export async function powerOffHost(bed: Bed, name: string): Promise<void> {
  await changeHost(bed, name, async (host) => {
    await powerOffMachine(bed, host);
    host.nspawn = null;
  });
}

/** Boots a host that is off; one that runs is left alone. */
export async function startHost(bed: Bed, name: string): Promise<void> {
  await changeHost(bed, name, async (host, record) => {
    if (host.nspawn !== null && (await isAlive(host.nspawn))) return;
    await killMachine(bed, host);
    if (!(await bridgeExists(bed))) await makeNetwork(bed);
    await mountFiles(bed, host);
    host.groups = await plannedGroups(bed, name);
    await writeRecord(bed, record);
    host.nspawn = await startMachine(bed, host);
    await writeRecord(bed, record);
    await bootAndWait(bed, host);
  });
}

async function changeHost(
  bed: Bed,
  name: string,
  work: (host: HostRecord, record: BedRecord) => Promise<void>,
): Promise<void> {
  await changeBed(bed, async () => {
    const record = await readRecord(bed);
    const host = record.hosts.find((other) => other.name === name);
    if (host === undefined) throw new TestbedError(`no host is named ${name}`);
    await work(host, record);
    await writeRecord(bed, record);
  });
}
