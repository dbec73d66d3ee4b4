// Puts on a host what a first try of bke needs: the built binary, a signed bundle, its key and this machine's limits; and lets one host log in to others.
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bootstrapFile, siteKeyFile } from './cluster-file.ts';
import { exists } from './files.ts';
import type { TestHost } from './hosts/host.ts';
import { makeRelease } from './release/bundle.ts';
import type { ReleaseOptions, ReleaseSize } from './release/manifest.ts';
import { TestbedError } from './run.ts';

const binary = path.join(import.meta.dirname, '../../dist/bke-linux-amd64');

const prepared = '--bundle /root/bundle.tar --trust-key /root/bundle.pub --config /root/bootstrap.yaml';

/** The options of `bke init` that name what `prepareHosts` put on the host, for what its bundle has. */
export const initOptions: Readonly<Record<ReleaseSize, string>> = {
  small: `${prepared} --bootstrap none`,
  full: `${prepared} --bootstrap kubeadm`,
};

/** Copies all of it to every host: bke to /usr/local/bin, the rest to /root. Builds the bundle where it is not there. */
export async function prepareHosts(
  hosts: readonly TestHost[],
  size: ReleaseSize = 'small',
  options: ReleaseOptions = {},
): Promise<void> {
  if (!(await exists(binary))) throw new TestbedError(`${binary} is not there: npm run build`);
  const release = await makeRelease(size, options);
  const settings = path.join(tmpdir(), `bke-bootstrap-${process.pid}.yaml`);
  await writeFile(settings, bootstrapFile(), { mode: 0o644 });
  try {
    await Promise.all(
      hosts.map(async (host) => {
        await host.copyIn(binary, '/usr/local/bin/bke');
        await host.copyIn(release.bundle, '/root/bundle.tar');
        await host.copyIn(release.trustKey, '/root/bundle.pub');
        await host.copyIn(settings, '/root/bootstrap.yaml');
      }),
    );
  } finally {
    await rm(settings);
  }
}

/** Lets `boot` log in to these hosts as root: the bed's key (`siteKeyFile`) and their host keys in known_hosts. */
export async function prepareSite(boot: TestHost, hosts: readonly TestHost[]): Promise<void> {
  await boot.copyIn(boot.privateKeyFile, siteKeyFile);
  const lines = hosts.flatMap(({ address, hostKeys }) => hostKeys.map(({ line }) => `${address} ${line}\n`));
  await boot.output('install -d -m 0700 /root/.ssh && install -m 0600 /dev/stdin /root/.ssh/known_hosts', {
    input: lines.join(''),
  });
}
