// `npm run demo`: the main job of bke on four real hosts made on this machine, with every command it runs shown. `npm run demo -- down` removes them.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import chalk from 'chalk';
import { execa, type Options } from 'execa';
import { exists } from '../test/testbed/files.ts';
import { currentBed } from '../test/testbed/hosts/bed.ts';
import { listHosts } from '../test/testbed/hosts/lifecycle.ts';
import { initOptions } from '../test/testbed/prepare.ts';
import { type Differing, differenceLines, whyNothingToGiveBack } from './demo-words.ts';

const root = join(import.meta.dirname, '..');
const boot = 'demo-boot';
const nodes = ['demo-cp1', 'demo-w1', 'demo-w2'] as const;
const hosts = [boot, ...nodes];
const place = { preferLocal: true, cwd: root, stdio: 'inherit', reject: false } as const;
/** What the hosts were before bke came, for `reset`. */
const scans = join(currentBed().folder, 'demo-scans');

const usage = `Usage: npm run demo             makes four real hosts on this machine, and a Kubernetes cluster of three of them with bke
       npm run demo -- reset    has bke give the hosts back, and compares each with what it was before
       npm run demo -- down     removes the hosts
`;

const goOn = `
  npm run testbed -- ssh ${boot}     a shell on the bootstrap node; there:
    bke status                          its services, and the cluster that makes clusters
    bke cluster list                    and: bke cluster describe demo, bke cluster logs demo, bke host list
    kubectl --kubeconfig demo.kubeconfig get pods -A -o wide
  npm run testbed -- ssh demo-w1        a shell on a node: crictl ps, journalctl -u bke-agent
  npm run demo -- reset                 the way back: bke reset on all four, and what differs from before (files of yours)
  npm run demo -- down                  removes the hosts; npm run demo makes new ones
`;

/** A command of the demo that ended with another exit code than 0. */
class StepFailed extends Error {
  readonly exitCode: number;
  constructor(command: string, exitCode: number) {
    super(`exit code ${exitCode}: ${command}`);
    this.exitCode = exitCode;
  }
}

interface Step {
  readonly title: string;
  run(): Promise<void>;
}

const makeCluster: readonly Step[] = [
  {
    title: 'bke, built: one program for a host to run',
    run: () => local('npm run build', ['node', 'scripts/build-binary.ts', 'amd64']),
  },
  {
    title:
      'A bundle, built and signed: Kubernetes, container runtime, registry, Cluster API. The first time: 25 minutes',
    run: () => testbed(['release', 'full']),
  },
  {
    title: 'Four hosts with systemd and sshd, without any route to the internet',
    run: async () => {
      await testbed(['down', ...hosts]);
      await testbed(['up', ...hosts]);
    },
  },
  {
    title: 'What a person brings to the bootstrap node: bke, the bundle and its key, a login, a cluster.yaml',
    run: async () => {
      await testbed(['prepare', '--full', boot]);
      await testbed(['site', boot, ...nodes]);
      await scanBefore();
      await on(boot, 'cat cluster.yaml');
      say('The settings in it are limits of this machine: control groups v1, and hosts that are containers.');
    },
  },
  {
    title: 'The bootstrap node: local services, then a small cluster with Cluster API. One to three minutes',
    run: async () => {
      await on(boot, `bke init ${initOptions.full.replaceAll('/root/', '')} --yes`);
      await on(boot, 'bke status');
    },
  },
  { title: 'Whether these hosts can carry the cluster', run: () => on(boot, 'bke host check -f cluster.yaml') },
  {
    title: 'The cluster: one command. One to three minutes',
    run: async () => {
      await on(boot, 'bke cluster create -f cluster.yaml');
      await on(boot, 'bke cluster describe demo');
    },
  },
  {
    title: 'It is an ordinary Kubernetes',
    run: async () => {
      await on(boot, 'bke cluster kubeconfig demo --to demo.kubeconfig --overwrite');
      await kubectl('get nodes -o wide');
      say('A pod whose image is named as in public; it comes from the registry on the bootstrap node.');
      await kubectl('run hello --image docker.io/library/bke-probe:v1');
      await kubectl('wait --for=condition=Ready pod/hello --timeout=3m');
      await kubectl('get pod hello -o wide');
    },
  },
];

const giveBackCommand = 'bke reset --all --mount --yes';

/** What the scans after the resets found. */
const differing: Differing[] = [];

function giveBack(host: string): Step {
  return {
    title: `${host}: bke reset, then what differs from before`,
    run: async () => {
      if (host === boot) await on(host, 'bke reset --all --mount --dry-run');
      // From the nodes bke goes with its own reset: nothing is left to run a second time.
      await on(host, host === boot ? giveBackCommand : `if command -v bke >/dev/null; then ${giveBackCommand}; fi`);
      // What kubectl and you wrote here is yours: reset leaves it.
      if (host === boot) await on(host, 'rm -rf .kube demo.kubeconfig');
      await compare(host);
    },
  };
}

const words = process.argv.slice(2);
const [word = 'up'] = words;
const wanted = words.length > 1 ? undefined : { up: demo, reset, down }[word];
if (wanted === undefined) {
  const asked = ['help', '--help', '-h'].includes(word);
  (asked ? process.stdout : process.stderr).write(usage);
  process.exitCode = asked ? 0 : 2;
} else {
  await wanted();
}

async function demo(): Promise<void> {
  if (process.getuid?.() !== 0) {
    console.error('The demo needs root: it makes hosts with mounts, a network and control groups.');
    process.exitCode = 1;
    return;
  }
  await inOrder(makeCluster, goOn);
}

async function reset(): Promise<void> {
  const names = (await listHosts(currentBed())).map(({ name }) => name);
  // The bootstrap node last: what a reset of the others tells to look at is there until then.
  const here = [...nodes, boot].filter((host) => names.includes(host));
  const scanned = await Promise.all(here.map((host) => exists(scanFile(host))));
  const nothing = whyNothingToGiveBack({ hosts: here, scanned: scanned.every(Boolean) });
  if (nothing !== undefined) {
    console.error(nothing);
    process.exitCode = 1;
    return;
  }
  await inOrder(here.map(giveBack), `\n  npm run demo -- down    removes the hosts\n`, { independent: true });
}

/** Shows what a scan finds other than before the demo. Differences are no failure of the step: whose they are is for a person to see. */
async function compare(host: string): Promise<void> {
  const args = ['scan', host, scanFile(host)];
  const command = `npm run testbed -- ${args.join(' ')}`;
  show('$', command);
  const { exitCode, stdout } = await execa('node', ['test/testbed/cli.ts', ...args], {
    ...place,
    stdio: ['inherit', ['inherit', 'pipe'], 'inherit'],
  });
  const changes = stdout.split('\n').filter((line) => line !== '');
  // Without a line it could not look at all.
  if (exitCode !== 0 && changes.length === 0) throw new StepFailed(command, exitCode ?? 1);
  if (changes.length > 0) differing.push({ host, changes });
}

async function down(): Promise<void> {
  await testbed(['down', ...hosts]);
  await rm(scans, { recursive: true, force: true });
}

/** Runs the steps; the first that fails ends the demo, with its exit code, unless the others do not need it. */
async function inOrder(steps: readonly Step[], end: string, { independent = false } = {}): Promise<void> {
  const times: string[] = [];
  for (const [index, step] of steps.entries()) {
    const name = `Step ${index + 1} of ${steps.length}`;
    say(`${name}. ${step.title}.`);
    const began = performance.now();
    try {
      await step.run();
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      fail(name, error, independent ? 'Once more: npm run demo -- reset' : 'From the beginning: npm run demo');
      if (!independent) return;
      continue;
    }
    times.push(`${String(Math.round((performance.now() - began) / 1000)).padStart(6)} s  ${step.title}`);
  }
  const failed = process.exitCode !== undefined;
  say(failed ? 'Not all of it was done: what failed is above.' : 'Done.');
  console.log(times.join('\n'));
  tellDifferences(failed);
  console.log(end);
}

function tellDifferences(failed: boolean): void {
  if (differing.length === 0) return;
  console.log(`\n${differenceLines(differing, { failed }).join('\n')}`);
  process.exitCode ??= 1;
}

function fail(name: string, { message, exitCode }: StepFailed, again: string): void {
  console.error(`\n${chalk.red.bold(`${name} failed`)}, ${message}`);
  console.error(`  What it said is above. What was made is still there: npm run testbed -- list, npm run testbed -- ssh ${boot}
  ${again}. To remove them: npm run demo -- down`);
  process.exitCode = exitCode;
}

async function scanBefore(): Promise<void> {
  await mkdir(scans, { recursive: true, mode: 0o755 });
  for (const host of hosts) {
    const args = ['scan', host];
    const command = `npm run -s testbed -- ${args.join(' ')} > ${scanFile(host)}`;
    show('$', command);
    await run(command, ['node', 'test/testbed/cli.ts', ...args], {
      stdio: ['inherit', { file: scanFile(host) }, 'inherit'],
    });
  }
}

function scanFile(host: string): string {
  return join(scans, `${host}.json`);
}

function say(text: string): void {
  console.log(`\n${chalk.bold(text)}`);
}

function show(prompt: string, command: string): void {
  console.log(`\n${chalk.cyan(prompt)} ${command}`);
}

/** Shows a command and runs it on a host, on this terminal, in root's home. */
async function on(host: string, command: string): Promise<void> {
  show(`${host}#`, command);
  await run(command, ['node', 'test/testbed/cli.ts', 'ssh', host, command]);
}

async function kubectl(args: string): Promise<void> {
  await on(boot, `kubectl --kubeconfig demo.kubeconfig ${args}`);
}

async function testbed(args: readonly string[]): Promise<void> {
  await local(`npm run testbed -- ${args.join(' ')}`, ['node', 'test/testbed/cli.ts', ...args]);
}

async function local(shown: string, argv: readonly string[]): Promise<void> {
  show('$', shown);
  await run(shown, argv);
}

/** @throws StepFailed */
async function run(shown: string, [program = '', ...args]: readonly string[], options: Options = {}): Promise<void> {
  const { exitCode, signal } = await execa(program, args, { ...place, ...options });
  if (exitCode === 0) return;
  throw new StepFailed(shown, exitCode ?? (signal === 'SIGINT' ? 130 : 1));
}
