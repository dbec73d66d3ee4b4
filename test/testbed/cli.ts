// The test bed by hand: `npm run testbed -- COMMAND`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { buildAll } from './builds/build.ts';
import { type Versions, defaultVersions } from './builds/component.ts';
import { clusterFile } from './cluster-file.ts';
import { baseRoot } from './hosts/base.ts';
import { currentBed } from './hosts/bed.ts';
import { ownKey } from './hosts/keys.ts';
import { type TestHost, testHost } from './hosts/host.ts';
import { downHosts, listHosts, upHosts } from './hosts/lifecycle.ts';
import { sshCommand } from './hosts/ssh.ts';
import { ownImage } from './images/bke.ts';
import { allImages } from './images/table.ts';
import { say } from './log.ts';
import { ensurePackages } from './packages.ts';
import { initOptions, prepareHosts, prepareSite } from './prepare.ts';
import { makeRelease } from './release/bundle.ts';
import { TestbedError } from './run.ts';
import { scanMachine } from './scan.ts';
import { diffScans } from './scan-diff.ts';
import { parseScan } from './scan-file.ts';

const usage = `Usage: npm run testbed -- COMMAND

  build                  build everything from nothing: programs, images, base file system, bundles (cold: about 25 minutes; after npm run build)
  release small|full     print where the release manifest, its signed bundle and the key to trust are
  up N | NAME...         boot fresh hosts (h1 to hN, or these names); they stay until down
  list                   hosts with address and state
  prepare [--full] NAME...  put the built bke, the small or the full bundle, its key and a bootstrap.yaml on hosts
  site BOOT CP1 NAME...  lets BOOT log in to these hosts, and puts a cluster.yaml of them on it: the first is the control plane
  ssh NAME [COMMAND]     a shell on a host, or one command
  poweroff NAME...       orderly power off
  kill NAME...           power loss
  start NAME...          boot again with the files as they are
  scan NAME [FILE]       print the host's state as JSON; with an earlier one in FILE, print what changed (exit code 1)
  down [NAME...]         remove these hosts, or all and the network

Environment: BKE_CACHE (default ~/.cache/bke), BKE_TESTBED_DIR (default /var/tmp/bke-testbed), BKE_KUBERNETES_VERSION (default ${defaultVersions.kubernetes}).
`;

// Modes of files on hosts and in the cache are the ones that are written in the code, whatever umask the user has.
process.umask(0o022);

type Command = (args: string[]) => Promise<number>;

const commands: Record<string, Command> = {
  build: async () => {
    await ensurePackages();
    // Tells at once, and not after twenty minutes, when the binary is not there.
    await ownImage();
    await buildAll({ versions: versions() });
    await baseRoot();
    await allImages({ versions: versions() });
    for (const size of ['small', 'full'] as const) await makeRelease(size, { versions: versions() });
    return 0;
  },
  release: async ([size]) => {
    if (size !== 'small' && size !== 'full') throw new TestbedError('say which release: small or full');
    await ensurePackages();
    const { manifest, bundle, trustKey } = await makeRelease(size, { versions: versions() });
    print(`manifest:  ${manifest}\nbundle:    ${bundle}\ntrust key: ${trustKey}\n`);
    return 0;
  },
  up: async (args) => {
    const names = hostNames(args);
    await ensurePackages();
    await upHosts(currentBed(), names, { keep: true });
    return printHosts();
  },
  list: printHosts,
  prepare: async (args) => {
    const size = args.includes('--full') ? 'full' : 'small';
    const names = args.filter((word) => word !== '--full');
    if (names.length === 0) throw new TestbedError('say which hosts');
    await ensurePackages();
    const hosts = await Promise.all(names.map(findHost));
    await prepareHosts(hosts, size);
    for (const host of hosts) say(`next, on ${host.name}: bke init ${initOptions[size]}`);
    return 0;
  },
  site: async ([bootName, ...names]) => {
    const boot = await findHost(bootName);
    const hosts = await Promise.all(names.map(findHost));
    await prepareSite(boot, hosts);
    const [first, ...workers] = hosts;
    if (first === undefined) throw new TestbedError('say which hosts the cluster is made of');
    await boot.output('cat > /root/cluster.yaml', {
      input: clusterFile({ name: 'demo', controlPlane: [first], workers }),
    });
    say(`next, on ${boot.name}: bke cluster create -f /root/cluster.yaml`);
    return 0;
  },
  ssh: async ([name, ...command]) => {
    const host = await findHost(name);
    const [program = '', ...flags] = sshCommand({ address: host.address, privateKeyFile: await ownKey(currentBed()) });
    // ssh gives a shell a terminal by itself, a command only when told.
    const terminal = process.stdin.isTTY && process.stdout.isTTY ? ['-t'] : [];
    const [code] = await once(spawn(program, [...terminal, ...flags, ...command], { stdio: 'inherit' }), 'exit');
    return typeof code === 'number' ? code : 1;
  },
  poweroff: (names) => forEachHost(names, (host) => host.stop()),
  kill: (names) => forEachHost(names, (host) => host.kill()),
  start: (names) => forEachHost(names, (host) => host.start()),
  scan: async ([name, earlier]) => {
    const scan = await scanMachine(await findHost(name));
    if (earlier === undefined) {
      print(`${JSON.stringify(scan, null, 2)}\n`);
      return 0;
    }
    const changes = diffScans(parseScan(await readFile(earlier, 'utf8')), scan);
    for (const change of changes) print(`${change}\n`);
    if (changes.length === 0) say('no difference');
    return changes.length === 0 ? 0 : 1;
  },
  down: async (names) => {
    const gone = await downHosts(currentBed(), names.length === 0 ? undefined : names);
    say(gone.length === 0 ? 'no host was there' : `removed ${gone.join(' ')}`);
    return 0;
  },
};

function versions(): Versions {
  const kubernetes = process.env.BKE_KUBERNETES_VERSION;
  return kubernetes === undefined ? defaultVersions : { ...defaultVersions, kubernetes };
}

function hostNames(args: string[]): string[] {
  const [first] = args;
  if (first === undefined) throw new TestbedError('say how many hosts, or their names');
  if (!/^\d+$/.test(first)) return args;
  return Array.from({ length: Number(first) }, (_, index) => `h${index + 1}`);
}

async function findHost(name: string | undefined): Promise<TestHost> {
  const hosts = await listHosts(currentBed());
  const record = hosts.find((host) => host.name === name);
  const known = hosts.map((host) => host.name).join(' ') || 'none';
  if (record === undefined) throw new TestbedError(`no host is named ${name ?? '(nothing)'}; there are: ${known}`);
  return testHost(currentBed(), record);
}

async function forEachHost(names: string[], act: (host: TestHost) => Promise<void>): Promise<number> {
  if (names.length === 0) throw new TestbedError('say which hosts');
  for (const name of names) await act(await findHost(name));
  return printHosts();
}

async function printHosts(): Promise<number> {
  const rows = (await listHosts(currentBed())).map(({ name, address, running, owner }) => [
    name,
    address,
    running ? 'running' : 'off',
    owner === null ? '' : `process ${owner.pid}`,
  ]);
  const table = [['NAME', 'ADDRESS', 'STATE', 'OWNER'], ...rows];
  for (const row of table)
    print(
      `${row
        .map((cell, at) => cell.padEnd([16, 16, 9, 0][at] ?? 0))
        .join('')
        .trimEnd()}\n`,
    );
  return 0;
}

function print(text: string): void {
  process.stdout.write(text);
}

const [name = '', ...rest] = process.argv.slice(2);
const command = commands[name];
if (command === undefined) {
  process.stderr.write(usage);
  process.exitCode = name === '' || name === 'help' || name === '--help' ? 0 : 2;
} else {
  try {
    process.exitCode = await command(rest);
  } catch (error) {
    if (!(error instanceof TestbedError)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}
