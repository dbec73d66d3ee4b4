// Takes away what pods' network programs left: each link, namespace, chain, table and set by its exact name (docs/adr/0006-reset-rules.md, rule 6).
import { namespaceFolder } from '../../host/state/network-namespaces.ts';
import { deletionScript, type OwnRules } from '../../host/state/iptables.ts';
import { idleChains } from '../../host/state/nftables.ts';
import { readMounts } from '../../host/state/mount-table.ts';
import type { Mount } from '../../host/state/mounts.ts';
import { readNetwork } from '../../host/state/state.ts';
import type { Route } from '../../host/state/routes.ts';
import type { Step } from '../../operations/operation.ts';
import { reasonOf, runBounded } from '../../host/state/bounded.ts';
import type { ResetScope } from './reset-scope.ts';
import { changePath, type OwnNetwork, ownNetwork } from './select.ts';

const commandMs = 20_000;
/** Rules may change between reading and deleting (a kube-proxy that was just ended): then all is read again. */
const ruleTries = 3;

interface Removal {
  readonly what: string;
  readonly argv: readonly [string, ...string[]];
  readonly see: string;
}

async function removeAll(scope: ResetScope, removals: readonly Removal[]): Promise<void> {
  for (const { what, argv, see } of removals) {
    await scope.act(`remove ${what}`, async () => {
      const result = await runBounded(scope.host, argv, { timeoutMs: commandMs });
      if (result.exitCode !== 0) scope.run.left.push({ what, why: reasonOf(result), see });
    });
  }
}

function routeArgv(route: Route): readonly [string, ...string[]] {
  const type = route.type === 'unicast' ? [] : [route.type];
  const device = route.device === undefined ? [] : ['dev', route.device];
  return [
    'ip',
    `-${route.family}`,
    'route',
    'del',
    ...type,
    route.destination,
    ...device,
    'proto',
    route.protocol,
    'table',
    route.table,
  ];
}

function beforeLinks(own: OwnNetwork): Removal[] {
  return [
    ...own.servers.map(({ option, endpoint }) => ({
      what: `virtual server ${endpoint}`,
      argv: ['ipvsadm', '-D', option, endpoint] as const,
      see: 'ipvsadm -L -n',
    })),
    ...own.policyRules.map(({ rule }) => ({
      what: `routing rule ${rule.priority} (IPv${rule.family})`,
      argv: ['ip', `-${rule.family}`, 'rule', 'del', 'priority', String(rule.priority), 'table', rule.table] as const,
      see: `ip -${rule.family} rule`,
    })),
    ...own.routes.map(({ route }) => ({
      what: `route ${route.destination} table ${route.table}`,
      argv: routeArgv(route),
      see: `ip -${route.family} route show table ${route.table}`,
    })),
  ];
}

/** One of a veth pair takes the other with it: what is gone by then is no failure. */
async function removeLinks(scope: ResetScope): Promise<void> {
  for (const { link } of ownNetwork(await readNetwork(scope.host)).links) {
    await scope.act(`remove link ${link.name}`, async () => {
      const result = await runBounded(scope.host, ['ip', 'link', 'delete', 'dev', link.name], { timeoutMs: commandMs });
      if (result.exitCode === 0 || /Cannot find device/.test(result.stderr)) return;
      scope.run.left.push({
        what: `link ${link.name} (${link.kind})`,
        why: reasonOf(result),
        see: `ip -d link show ${link.name}`,
      });
    });
  }
}

/** The mount on the name went with the other mounts; what is left is an empty file. */
async function removeNamespaces(scope: ResetScope, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await scope.act(`remove network namespace ${name}`, async () => {
      try {
        await scope.host.files.remove(`${namespaceFolder}/${name}`);
      } catch (thrown) {
        const why = thrown instanceof Error ? thrown.message : String(thrown);
        scope.run.left.push({ what: `network namespace ${name}`, why, see: 'ip netns list' });
      }
    });
  }
}

function isNamespaceFolder(mount: Mount): boolean {
  return mount.mountPoint === namespaceFolder && mount.fileSystem === 'tmpfs' && mount.root === '/netns';
}

/** The runtime and `ip netns` make the folder with the first namespace, the latter as a mount of itself; without the last one it means nothing. */
async function removeNamespaceFolder(scope: ResetScope): Promise<void> {
  const { files } = scope.host;
  if ((await files.stat(namespaceFolder)) === undefined || (await files.list(namespaceFolder)).length > 0) return;
  await scope.act(`remove the empty ${namespaceFolder}`, async () => {
    for (const mount of (await readMounts(scope.host)).filter(isNamespaceFolder)) {
      await runBounded(scope.host, ['umount', '-c', '-i', '--', mount.mountPoint], { timeoutMs: commandMs });
    }
    // Somebody may make one just now: then it is not empty any more, and theirs.
    await files.remove(namespaceFolder).catch(() => undefined);
  });
}

/** Whether pods ran here: their runtime was bke's, or some of their namespaces are still there. */
function hadPods(scope: ResetScope, own: OwnNetwork): boolean {
  const { resources } = scope.run.selection;
  return own.namespaces.length > 0 || resources.some(({ record }) => changePath(record.last) === '/run/containerd');
}

async function deleteRules(scope: ResetScope, own: OwnRules): Promise<string | undefined> {
  const argv = [`${own.backend}-restore`, '--noflush', '-w', '5'] as const;
  const result = await runBounded(scope.host, argv, { input: deletionScript(own), timeoutMs: commandMs });
  if (result.exitCode !== 0) return reasonOf(result);
  const family = own.backend.startsWith('ip6') ? 'ip6' : 'ip';
  if (own.backend.endsWith('-nft')) scope.run.touchedTables.add(`${family} ${own.table}`);
  return undefined;
}

async function removeRules(scope: ResetScope): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const rules = ownNetwork(await readNetwork(scope.host)).rules;
    const failed: { own: OwnRules; why: string }[] = [];
    for (const own of rules) {
      const title = `remove ${own.chains.length} chains and ${own.rules.length} rules (${own.backend} ${own.table})`;
      await scope.act(title, async () => {
        const why = await deleteRules(scope, own);
        if (why !== undefined) failed.push({ own, why });
      });
    }
    if (failed.length === 0) return;
    if (attempt < ruleTries) continue;
    for (const { own, why } of failed) {
      scope.run.left.push({
        what: `${own.backend} table ${own.table}`,
        why,
        see: `${own.backend}-save -t ${own.table}`,
      });
    }
    return;
  }
}

/**
 * iptables makes its nft tables when its first rule comes and never takes them away: one that does nothing any more goes with our rules. Where the
 * record tells which chains were there before, its undoing does this, exactly.
 */
async function removeIdleTables(scope: ResetScope): Promise<void> {
  if (scope.run.ledger.resources().some(({ record }) => record.last.kind === 'base-chains')) return;
  for (const table of scope.run.touchedTables) {
    const [family = '', name = ''] = table.split(' ');
    const chains = await idleChainsOf(scope, family, name);
    if (chains === undefined) continue;
    await scope.act(`remove the empty nft table ${table}`, async () => {
      const input = chains.map((chain) => `delete chain ${family} ${name} ${chain}\n`).join('');
      const cleared = await runBounded(scope.host, ['nft', '-f', '-'], { input, timeoutMs: commandMs });
      // Looked at again: a rule may have come meanwhile, then the table is somebody's and stays.
      if (cleared.exitCode !== 0 || (await idleChainsOf(scope, family, name))?.length !== 0) return;
      await runBounded(scope.host, ['nft', 'delete', 'table', family, name], { timeoutMs: commandMs });
    });
  }
}

async function idleChainsOf(scope: ResetScope, family: string, name: string): Promise<string[] | undefined> {
  const listed = await runBounded(scope.host, ['nft', '-j', 'list', 'table', family, name], { timeoutMs: commandMs });
  return listed.exitCode === 0 ? idleChains(listed.stdout) : undefined;
}

async function clearNetwork(scope: ResetScope): Promise<void> {
  const own = ownNetwork(await readNetwork(scope.host));
  await removeAll(scope, beforeLinks(own));
  await removeNamespaces(scope, own.namespaces);
  if (hadPods(scope, own)) await removeNamespaceFolder(scope);
  await removeLinks(scope);
  await removeRules(scope);
  await removeIdleTables(scope);
  await removeAll(scope, [
    ...own.nftTables.map(({ family, name }) => ({
      what: `nft table ${family} ${name}`,
      argv: ['nft', 'delete', 'table', family, name] as const,
      see: `nft list table ${family} ${name}`,
    })),
    ...own.sets.map((name) => ({
      what: `ipset ${name}`,
      argv: ['ipset', 'destroy', name] as const,
      see: `ipset list ${name}`,
    })),
  ]);
}

export const clearNetworkStep: Step<ResetScope> = {
  name: 'reset/network',
  title: 'Remove network leftovers',
  timeoutMs: 180_000,
  run: clearNetwork,
};
