// The change kind `module`: a loaded kernel module. What is built in is there already.
import type { Host } from '../host.ts';
import { runChecked } from '../run-checked.ts';
import type { ChangeKind, ChangeRecord, ModuleChange, Observation, UndoOutcome } from './change.ts';

interface ModuleState {
  readonly loaded: boolean;
  /** Ours and those it needs, as far as they are not loaded: what came with ours goes with it. */
  readonly missing: readonly string[];
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

/** `kernel/net/bridge/bridge.ko.xz` is bridge. */
function nameIn(path: string): string {
  return plain(
    path
      .split('/')
      .at(-1)
      ?.replace(/\.ko(\.\w+)?$/, '') ?? '',
  );
}

async function kernelList(host: Host, file: string): Promise<string[]> {
  const release = (await host.files.read('/proc/sys/kernel/osrelease'))?.toString().trim() ?? '';
  return (
    (await host.files.read(`/lib/modules/${release}/${file}`, { maxBytes: 16 << 20 }))?.toString().split('\n') ?? []
  );
}

/** What shows that a kernel has it, also one whose lists are not on this host (a container's, or one built by hand). */
const signs: Readonly<Record<string, (host: Host) => Promise<boolean>>> = {
  overlay: async (host) => /\toverlay$/m.test((await host.files.read('/proc/filesystems'))?.toString() ?? ''),
  br_netfilter: async (host) => (await host.files.stat('/proc/sys/net/bridge')) !== undefined,
  nf_conntrack: async (host) => (await host.files.stat('/proc/sys/net/netfilter')) !== undefined,
};

async function isBuiltIn(host: Host, name: string): Promise<boolean> {
  const listed = (await kernelList(host, 'modules.builtin')).some((line) => nameIn(line) === plain(name));
  return listed || ((await signs[plain(name)]?.(host)) ?? false);
}

/** All modules that modprobe loads before this one. */
async function needsOf(host: Host, name: string): Promise<string[]> {
  for (const line of await kernelList(host, 'modules.dep')) {
    const [path = '', needs = ''] = line.split(':');
    if (nameIn(path) === plain(name))
      return needs
        .split(' ')
        .filter((need) => need !== '')
        .map(nameIn);
  }
  return [];
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
  const present = (await loadedModules(host)).map((module) => module.name);
  const loaded = present.includes(plain(change.name)) || (await isBuiltIn(host, change.name));
  const all = [plain(change.name), ...(await needsOf(host, change.name))];
  const before: ModuleState = { loaded, missing: all.filter((name) => !present.includes(name)) };
  return { satisfied: loaded, before, action: loaded ? 'none' : 'create' };
}

/** In rounds: a module that another refers to goes after it. Returns what stays. */
async function unload(host: Host, names: readonly string[]): Promise<string[]> {
  const tried = new Set<string>();
  for (;;) {
    const loaded = (await loadedModules(host)).filter((module) => names.includes(module.name));
    const idle = loaded.filter((module) => module.references === 0 && !tried.has(module.name));
    if (idle.length === 0) return loaded.map((module) => module.name);
    for (const { name } of idle) {
      tried.add(name);
      await host.run(['rmmod', name]);
    }
  }
}

async function undo(host: Host, record: ChangeRecord<ModuleChange, ModuleState>): Promise<UndoOutcome> {
  const { missing } = record.first;
  const loaded = await loadedModules(host);
  if (!loaded.some((module) => missing.includes(module.name))) return { result: 'already' };
  if (await serves(host, record.last.name)) return { result: 'kept', why: 'in use by a bridge of this host' };
  const stays = await unload(host, missing);
  if (stays.length === 0) return { result: 'undone' };
  return {
    result: 'kept',
    why: `in use, or the kernel does not let go of it: ${stays.join(', ')}; gone after the next boot`,
  };
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
