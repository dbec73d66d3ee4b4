// Which public registries a host takes from the local one.

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

/** The registry an image name means: `nginx` and `library/nginx` are of docker.io, as containerd reads them. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const named = rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost');
  return named ? first : 'docker.io';
}

/** The common registries and those of `images`, sorted, without repeats. */
export function mirroredRegistries(images: readonly string[]): string[] {
  return [...new Set([...commonRegistries, ...images.map(registryOf)])].sort();
}
