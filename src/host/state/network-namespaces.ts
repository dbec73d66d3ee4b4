// Named network namespaces of pods.
import type { Host } from '../host.ts';

export const namespaceFolder = '/run/netns';

/** The container runtime names pods' namespaces cni-<uuid>; others (`ip netns add`, podman's netns-…) use other beginnings. */
export function isPodNamespace(name: string): boolean {
  return name.startsWith('cni-');
}

export async function readPodNamespaces(host: Host): Promise<string[]> {
  return (await host.files.list(namespaceFolder)).filter(isPodNamespace);
}
