// The refusal of a host that has a Kubernetes of somebody else.
import type { Host } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';

/** @param trace path or paths by which it is known */
export function kubernetesFound({ name }: Pick<Host, 'name'>, trace: string): BkeError {
  return new BkeError('BKE_KUBERNETES_FOUND', `there is a Kubernetes on this host that bke did not make: ${trace}`, {
    host: name,
    hint: 'Use another host, or take it away first: bke reset --dry-run shows what would go.',
  });
}
