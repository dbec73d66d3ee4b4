// Whether K3s may begin on a host: nobody else's Kubernetes is there, and no K3s that it could not take over from.
import semver from 'semver';
import type { Host } from '../../../host/host.ts';
import { unitFolder } from '../../../host/systemd.ts';
import { BkeError } from '../../../lib/errors.ts';
import { ownMark } from '../../../lib/own-mark.ts';
import { programFolder } from '../../node/programs.ts';
import type { Task } from '../../task.ts';
import { kubernetesFound } from '../kubernetes-found.ts';
import { k3sLink, k3sPaths, k3sUnit } from './paths.ts';

/** Of a K3s, by whomever, and of a cluster by kubeadm. */
const traces = [
  `${unitFolder}/${k3sUnit}`,
  `${unitFolder}/k3s-agent.service`,
  k3sPaths.config,
  `${k3sPaths.dataDir}/server/db`,
];
const kubeadmTraces = ['/etc/kubernetes/manifests/kube-apiserver.yaml', '/etc/kubernetes/admin.conf'];

export const k3sHostTask: Task<{ readonly version: string }> = {
  name: 'k3s/host',
  title: () => 'No other Kubernetes is here',
  timeoutMs: 60_000,
  run: (scope, { version }) => checkHost(scope.host, version),
};

/** @throws BkeError BKE_KUBERNETES_FOUND */
export async function checkHost(host: Host, version: string): Promise<void> {
  const foreign = await foreignTrace(host);
  if (foreign !== undefined) throw kubernetesFound(host, foreign);
  const running = await installedVersion(host);
  if (running === undefined || follows(running, version)) return;
  throw new BkeError('BKE_KUBERNETES_FOUND', `the bootstrap cluster is K3s ${running}, and the bundle has ${version}`, {
    host: host.name,
    hint: 'K3s goes up by one minor version at a time and never down. Use a bundle in between, or make the cluster anew: bke reset, then bke init.',
  });
}

/** Where bke's own unit is, the rest is K3s's of bke. */
async function foreignTrace(host: Host): Promise<string | undefined> {
  for (const path of kubeadmTraces) if ((await host.files.stat(path)) !== undefined) return path;
  for (const path of [`${unitFolder}/${k3sUnit}`, k3sPaths.config]) if (await isOwn(host, path)) return undefined;
  for (const path of traces) if ((await host.files.stat(path)) !== undefined) return path;
  return undefined;
}

async function isOwn(host: Host, path: string): Promise<boolean> {
  if ((await host.files.stat(path))?.type !== 'file') return false;
  return ((await host.files.read(path))?.toString('utf8') ?? '').startsWith(ownMark);
}

/** By the link people call it by; undefined where bke has not put one there. */
async function installedVersion(host: Host): Promise<string | undefined> {
  if ((await host.files.stat(k3sLink))?.type !== 'link') return undefined;
  const [before = '', after = ''] = programFolder({ name: 'k3s', version: '|' }).split('|');
  const target = await host.files.readLink(k3sLink);
  return target.startsWith(before) ? target.slice(before.length, target.length - `${after}/k3s`.length) : undefined;
}

/** K3s's own number after the plus counts too. */
function follows(from: string, to: string): boolean {
  const [first, second] = [semver.parse(from), semver.parse(to)];
  if (first === null || second === null) return from === to;
  return semver.compareBuild(second, first) >= 0 && second.major === first.major && second.minor <= first.minor + 1;
}
