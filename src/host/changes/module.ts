// The change kind `module`: a loaded kernel module. What is built in is there already.
import type { Host } from '../host.ts';
import { runChecked } from '../run-checked.ts';
import type { ChangeKind, ChangeRecord, ModuleChange, Observation, UndoOutcome } from './change.ts';

interface ModuleState {
  readonly loaded: boolean;
  /** All modules of the kernel: what came with ours goes with it. */
  readonly modules: readonly string[];
}

interface LoadedModule {
  readonly name: string;
  readonly references: number;
}

function plain(name: string): string {
  return name.replaceAll('-', '_');
}

async function loadedModules(host: Host): Promise<LoadedModule[]> {
  const table = (await host.files.read('/proc/modules', { maxBytes: 8 << 20 }))?.toString() ?? '';
  return table.split('\n').flatMap((line) => {
    const [name, , references] = line.split(' ');
    return name === undefined || name === '' ? [] : [{ name, references: Number(references) }];
  });
}

async function isBuiltIn(host: Host, name: string): Promise<boolean> {
  const release = (await host.files.read('/proc/sys/kernel/osrelease'))?.toString().trim() ?? '';
  const list = (await host.files.read(`/lib/modules/${release}/modules.builtin`))?.toString() ?? '';
  return list.split('\n').some((line) => plain(line.split('/').at(-1)?.replace(/\.ko$/, '') ?? '') === plain(name));
}

/** A module may work without being referred to: a filter on bridges that others have meanwhile must stay. */
async function serves(host: Host, name: string): Promise<boolean> {
  if (plain(name) !== 'br_netfilter') return false;
  for (const link of await host.files.list('/sys/class/net')) {
    if ((await host.files.list(`/sys/class/net/${link}/bridge`)).length > 0) return true;
  }
  return false;
}

async function observe(host: Host, change: ModuleChange): Promise<Observation<ModuleState>> {
  const modules = (await loadedModules(host)).map((module) => module.name);
  const loaded = modules.includes(plain(change.name)) || (await isBuiltIn(host, change.name));
  const before: ModuleState = { loaded, modules };
  return { satisfied: loaded, before, action: loaded ? 'none' : 'create' };
}

/** In rounds: a module that another refers to goes after it. Returns what stays. */
async function unload(host: Host, names: readonly string[]): Promise<string[]> {
  for (let rest = names; ; ) {
    const loaded = await loadedModules(host);
    const present = loaded.filter((module) => rest.includes(module.name));
    const idle = present.filter((module) => module.references === 0);
    if (idle.length === 0) return present.map((module) => module.name);
    for (const { name } of idle) await host.run(['rmmod', name]);
    rest = rest.filter((name) => !idle.some((module) => module.name === name));
  }
}

async function undo(host: Host, record: ChangeRecord<ModuleChange, ModuleState>): Promise<UndoOutcome> {
  const name = plain(record.last.name);
  const first = record.first;
  if (!(await loadedModules(host)).some((module) => module.name === name)) return { result: 'already' };
  if (await serves(host, name)) return { result: 'kept', why: 'in use by a bridge of this host' };
  const applied = record.applied?.modules ?? [name];
  const came = applied.filter((module) => !first.modules.includes(module));
  const stays = await unload(host, [...new Set([name, ...came])]);
  if (!stays.includes(name)) return { result: 'undone' };
  return { result: 'kept', why: 'in use: it goes with the next boot' };
}

export const moduleKind: ChangeKind<ModuleChange, ModuleState> = {
  kind: 'module',
  key: (change) => `module:${plain(change.name)}`,
  describe: (change) => `kernel module ${change.name}`,
  record: (change) => change,
  path: () => undefined,
  observe,
  async apply(host, change) {
    await runChecked(host, ['modprobe', '--', change.name]);
  },
  undo,
};
