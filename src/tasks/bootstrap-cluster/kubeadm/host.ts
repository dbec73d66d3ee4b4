// Whether kubeadm may begin on a host: nobody else's Kubernetes is there, and no cluster of another version.
import type { Host } from '../../../host/host.ts';
import { BkeError } from '../../../lib/errors.ts';
import { kubernetesFound } from '../kubernetes-found.ts';
import { kubeadmPaths, kubeconfigFiles, manifestFiles } from './paths.ts';

/** @throws BkeError BKE_KUBERNETES_FOUND */
export async function checkHost(host: Host, version: string): Promise<void> {
  const [found] = await foundFiles(host);
  if (found === undefined) return;
  if ((await host.files.stat(kubeadmPaths.config)) === undefined) throw kubernetesFound(host, found);
  const running = await manifestVersion(host);
  if (running === undefined || running === version) return;
  throw new BkeError(
    'BKE_KUBERNETES_FOUND',
    `the bootstrap cluster is Kubernetes ${running}, and the bundle has ${version}`,
    {
      host: host.name,
      hint: `Use a bundle with Kubernetes ${running}, or make the cluster anew: bke reset, then bke init.`,
    },
  );
}

/** Files by which kubeadm's work is known, whoever ran it. */
export async function foundFiles(host: Host): Promise<string[]> {
  const found: string[] = [];
  for (const path of [...manifestFiles, ...kubeconfigFiles, kubeadmPaths.pki]) {
    if ((await host.files.stat(path)) !== undefined) found.push(path);
  }
  return found;
}

/** undefined where kubeadm did not get as far as that. */
async function manifestVersion(host: Host): Promise<string | undefined> {
  const manifest = await host.files.read(`${kubeadmPaths.manifests}/kube-apiserver.yaml`);
  return /^\s*image: \S+\/kube-apiserver:(\S+)$/m.exec(manifest?.toString('utf8') ?? '')?.[1];
}
