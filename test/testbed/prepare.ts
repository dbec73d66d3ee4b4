// Puts on a host what a first try of bke needs: the built binary, a signed bundle, its key and this machine's limits.
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exists } from './files.ts';
import type { TestHost } from './hosts/host.ts';
import { makeRelease } from './release/bundle.ts';
import type { ReleaseOptions, ReleaseSize } from './release/manifest.ts';
import { TestbedError } from './run.ts';

const binary = path.join(import.meta.dirname, '../../dist/bke-linux-amd64');

/** The limits of this machine (README.md, "Limits of hosts in a container"). */
const bootstrapFile = `apiVersion: bke.io/v1alpha1
kind: Bootstrap
spec:
  settings:
    kubelet:
      failCgroupV1: false
      cgroupDriver: cgroupfs
      oomScoreAdj: 0
      imageGCHighThresholdPercent: 100
      evictionHard:
        memory.available: 100Mi
        nodefs.available: 1%
        nodefs.inodesFree: 1%
        imagefs.available: 1%
        imagefs.inodesFree: 1%
    kubeProxy:
      oomScoreAdj: 0
      conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
    containerd:
      plugins:
        io.containerd.cri.v1.runtime:
          restrict_oom_score_adj: true
    kubeadm:
      ignorePreflightErrors: [SystemVerification]
`;

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
  await writeFile(settings, bootstrapFile, { mode: 0o644 });
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
