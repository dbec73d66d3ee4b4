// A host between two attempts. kubeadm refuses what an attempt that failed has left, so that is taken away: by kubeadm itself, which knows best.
import { removeTree } from '../../../host/changes/remove-tree.ts';
import type { Host } from '../../../host/host.ts';
import { runChecked } from '../../../host/run-checked.ts';
import { runBounded } from '../../../host/state/bounded.ts';
import { listedShort } from '../../../lib/text.ts';
import { foundFiles } from '../../bootstrap-cluster/kubeadm/host.ts';
import { kubeadmPaths, manifestFiles } from '../../bootstrap-cluster/kubeadm/paths.ts';
import { kubernetesFound } from '../../bootstrap-cluster/kubernetes-found.ts';
import type { TaskScope } from '../../task.ts';
import { containerdPaths } from '../containerd-config.ts';

const etcdData = '/var/lib/etcd';

/** What of a Kubernetes is on the host. Before the first attempt it is somebody else's; after it begun it is ours, because there was nothing. */
async function kubernetesFiles(host: Host): Promise<string[]> {
  const found = (await foundFiles(host)).filter((path) => path !== kubeadmPaths.pki);
  if ((await host.files.stat(kubeadmPaths.kubeletConfig)) !== undefined) found.push(kubeadmPaths.kubeletConfig);
  // Empty, kubeadm itself leaves them behind.
  for (const path of [kubeadmPaths.pki, etcdData]) if ((await host.files.list(path)).length > 0) found.push(path);
  return found;
}

/** @throws BkeError BKE_KUBERNETES_FOUND */
export async function requireNoKubernetes(host: Host): Promise<void> {
  const found = await kubernetesFiles(host);
  if (found.length === 0) return;
  throw kubernetesFound(host, listedShort(found, 3));
}

/** Only certificates: they come with the data, and again with the next attempt. */
async function isUntouched(host: Host): Promise<boolean> {
  return (await kubernetesFiles(host)).every((path) => path === kubeadmPaths.pki);
}

/** @param joining an attempt to join may have made the host a member of the cluster's etcd */
export async function clearAttempt(scope: TaskScope, { joining }: { readonly joining: boolean }): Promise<void> {
  const { host } = scope;
  if (await isUntouched(host)) return;
  await scope.act('take away what the attempt that failed has left', async () => {
    const others = await otherManifests(host);
    const left = joining && (await host.files.stat(etcdManifest)) !== undefined && (await leaves(scope));
    if (!left) await requireReset(scope);
    await removeTree(host, etcdData, { keepTop: true, mountedTop: true, signal: scope.signal });
    for (const { path, content } of others) {
      await host.files.write(path, content, { mode: 0o600, uid: 0, gid: 0 });
    }
  });
}

const etcdManifest = `${kubeadmPaths.manifests}/etcd.yaml`;
/** Leaving etcd waits for its quorum, which there may be none of. */
const leaveMs = 60_000;
const resetMs = 3 * 60_000;
const withoutEtcd = ['--skip-phases=remove-etcd-member'];

function resetCommand(words: readonly string[]): readonly [string, ...string[]] {
  return [kubeadmPaths.program, 'reset', '--force', `--cri-socket=unix://${containerdPaths.socket}`, ...words];
}

/** Where that fails, Cluster API takes a member out of etcd that has no Machine any more. */
async function leaves({ host, signal }: TaskScope): Promise<boolean> {
  return (await runBounded(host, resetCommand([]), { timeoutMs: leaveMs, signal })).exitCode === 0;
}

async function requireReset({ host, signal }: TaskScope): Promise<void> {
  await runChecked(host, resetCommand(withoutEtcd), { timeoutMs: resetMs, signal });
}

/** kubeadm empties the whole folder, and the load balancer's pod may be in it. */
async function otherManifests(host: Host): Promise<{ readonly path: string; readonly content: Buffer }[]> {
  const found: { readonly path: string; readonly content: Buffer }[] = [];
  for (const name of await host.files.list(kubeadmPaths.manifests)) {
    const path = `${kubeadmPaths.manifests}/${name}`;
    const content = manifestFiles.includes(path) ? undefined : await host.files.read(path);
    if (content !== undefined) found.push({ path, content });
  }
  return found;
}
