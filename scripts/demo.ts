// `npm run demo`: what bke does today, on a real host made on this machine, with every command it runs shown. `npm run demo -- down` removes it.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import chalk from 'chalk';
import { execa } from 'execa';
import { type BkeHost, bkeHosts, initOptions } from '../test/e2e/helpers/bke-host.ts';

const root = join(import.meta.dirname, '..');
const local = { preferLocal: true, cwd: root, stdio: 'inherit' } as const;

if (process.argv.includes('down')) await testbed(['down']);
else await demo();

async function demo(): Promise<void> {
  say(
    'Building bke, and what a release has inside: Kubernetes and its companions. The first time takes about 25 minutes.',
  );
  if (!(await exists('dist/bke-linux-amd64'))) await execa('node', ['scripts/build-binary.ts', 'amd64'], local);
  await testbed(['build']);

  say('A real host with systemd and sshd, without any route to the internet. A bundle and bke are copied to it.');
  const [boot] = await bkeHosts(['boot'], { keep: true });
  if (boot === undefined) throw new Error('the test bed gave no host');

  await on(boot, 'bke bundle inspect /root/bundle.tar');
  await on(boot, `bke init ${initOptions} --dry-run`);
  await on(boot, `bke init ${initOptions} --yes`);
  await on(boot, 'bke status');
  say('The host pulls an image by its public name; it comes from the registry that bke has just started.');
  await on(boot, 'crictl pull registry.k8s.io/pause:3.10.2 && crictl images');
  say('And back: the plan, then the way back, then nothing is left but the binary.');
  await on(boot, 'bke reset --all --mount --dry-run');
  await on(boot, 'bke reset --all --mount --yes');
  await on(boot, 'bke status; ls -d /var/lib/bke /etc/containerd /usr/local/libexec/bke');
  say(`Done. The host is still there: npm run testbed -- ssh ${boot.name}. It goes with: npm run demo -- down`);
}

function say(text: string): void {
  console.log(`\n${chalk.bold(text)}`);
}

/** Shows a command and runs it on the host, on this terminal. */
async function on(host: BkeHost, command: string): Promise<void> {
  console.log(`\n${chalk.cyan(`${host.name}#`)} ${command}`);
  await execa('node', ['test/testbed/cli.ts', 'ssh', host.name, command], { ...local, reject: false });
}

async function testbed(words: readonly string[]): Promise<void> {
  await execa('node', ['test/testbed/cli.ts', ...words], local);
}

async function exists(path: string): Promise<boolean> {
  return access(join(root, path)).then(
    () => true,
    () => false,
  );
}
