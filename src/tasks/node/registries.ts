// Which public registries a host takes from the local one.
import { parseReference } from '../../release/oci/reference.ts';

/** Registries that images of Kubernetes and its add-ons are commonly named by: none of them may ever be asked by an offline host. */
const commonRegistries = [
  'docker.io',
  'gcr.io',
  'ghcr.io',
  'k8s.gcr.io',
  'mcr.microsoft.com',
  'public.ecr.aws',
  'quay.io',
  'registry.k8s.io',
];

/** The common registries and those of `images` (full names), sorted, without repeats. */
export function mirroredRegistries(images: readonly string[]): string[] {
  return [...new Set([...commonRegistries, ...images.map((image) => parseReference(image).registry)])].sort();
}
