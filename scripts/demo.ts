// `npm run demo`: what bke does today, on a real host made on this machine, with every command it runs shown. `npm run demo -- down` removes it.
import { join } from 'node:path';
import chalk from 'chalk';
import { execa } from 'execa';
import { initOptions } from '../test/testbed/prepare.ts';

const root = join(import.meta.dirname, '..');
const local = { preferLocal: true, cwd: root, stdio: 'inherit' } as const;
const host = 'demo-boot';

const usage = `Usage: npm run demo            shows bke on a real host made on this machine, named ${host}
       npm run demo -- down    removes that host
`;

const words = process.argv.slice(2);
if (words.length === 0) await demo();
else if (words.length === 1 && words[0] === 'down') await testbed(['down', host]);
else {
  const asked = words.length === 1 && ['help', '--help', '-h'].includes(words[0] ?? '');
  (asked ? process.stdout : process.stderr).write(usage);
  process.exitCode = asked ? 0 : 2;
}

async function demo(): Promise<void> {
  say('Building bke.');
  await execa('node', ['scripts/build-binary.ts', 'amd64'], local);
  say(
    'A bundle with a container runtime, an image registry and two images, signed. The first time builds them: about 15 minutes on two cores.',
  );
  await testbed(['release', 'small']);

  say('A real host with systemd and sshd, without any route to the internet. The bundle and bke are copied to it.');
  await testbed(['down', host]);
  await testbed(['up', host]);
  await testbed(['prepare', host]);

  await on('bke bundle inspect /root/bundle.tar --trust-key /root/bundle.pub');
  say(
    'What init would do. The host runs on the kernel of this machine: a warning of control groups v1 is about this machine.',
  );
  await on(`bke init ${initOptions.small} --dry-run`);
  await on(`bke init ${initOptions.small} --yes`);
  await on('bke status');
  say('The host pulls an image by its public name; it comes from the registry that bke has just started.');
  await on('crictl pull docker.io/library/bke-probe:v1 && crictl images');
  say('And back: the plan, then the way back, then nothing is left but the binary.');
  await on('bke reset --all --mount --dry-run');
  await on('bke reset --all --mount --yes');
  await on('bke status; ls -d /var/lib/bke /etc/containerd /usr/local/libexec/bke');
  say(`Done. The host is still there: npm run testbed -- ssh ${host}. It goes with: npm run demo -- down`);
}

function say(text: string): void {
  console.log(`\n${chalk.bold(text)}`);
}

/** Shows a command and runs it on the host, on this terminal. */
async function on(command: string): Promise<void> {
  console.log(`\n${chalk.cyan(`${host}#`)} ${command}`);
  await execa('node', ['test/testbed/cli.ts', 'ssh', host, command], { ...local, reject: false });
}

async function testbed(args: readonly string[]): Promise<void> {
  await execa('node', ['test/testbed/cli.ts', ...args], local);
}
