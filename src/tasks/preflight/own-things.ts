// What on a host is bke's own, told from what others installed: by the facts, and on this host by its ledger.
import { dirname } from 'node:path';
import type { HostFacts } from '../../host/facts/schema.ts';
import type { Host } from '../../host/host.ts';
import { readLedger } from '../../host/ledger/ledger.ts';
import { runtimeZones } from '../node/container-runtime.ts';
import { kubernetesZones } from '../node/kubernetes.ts';
import type { HostNeeds } from './check.ts';
import type { DirectoryFound, OwnThings } from './machine.ts';

type OwnFacts = Pick<HostFacts, 'own'>;

/** @param facts of this host. */
export async function readOwnThings(host: Host, { reachable }: HostNeeds, facts: OwnFacts): Promise<OwnThings> {
  return {
    ...marked(facts),
    directories: await readDirectories(host, reachable),
    zones: await readZones(host),
  };
}

/** Of a host whose ledger is out of reach: where bke's kubelet or containerd is, what fills their directories is of the cluster it was set up for. */
export function ownThingsOf(facts: OwnFacts): OwnThings {
  const own = marked(facts);
  const isNode = own.services.has('kubelet') || own.services.has('containerd');
  return { ...own, directories: [], zones: new Set(isNode ? [...runtimeZones, ...kubernetesZones] : []) };
}

function marked({ own }: OwnFacts): Pick<OwnThings, 'services' | 'pids'> {
  return { services: new Set(own.units), pids: new Set(own.pids) };
}

async function readZones(host: Host): Promise<Set<string>> {
  const ledger = await readLedger(host);
  return new Set(ledger.resources().flatMap(({ record: { last } }) => (last.kind === 'zone' ? [last.path] : [])));
}

async function readDirectories(host: Host, paths: readonly string[]): Promise<DirectoryFound[]> {
  const all = new Set((await Promise.all(paths.map((path) => existing(host, path)))).flat());
  const found = await Promise.all([...all].map(async (path) => ({ path, stat: await host.files.stat(path) })));
  return found.flatMap(({ path, stat }) => (stat === undefined ? [] : [{ path, mode: stat.mode, type: stat.type }]));
}

/** The parts of a path that exist, from the top down. */
async function existing(host: Host, path: string): Promise<string[]> {
  const above = dirname(path) === path ? [] : await existing(host, dirname(path));
  return (await host.files.stat(path)) === undefined ? above : [...above, path];
}
