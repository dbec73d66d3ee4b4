// An API server that knows one Lease: versions are compared, as the real one does.
import type { KubeClient, KubeObject } from '../../src/kube/client.ts';
import { fieldAt, isKubeObject } from '../../src/kube/fields.ts';
import { statusError } from '../../src/kube/status-error.ts';

export class LeaseApi {
  lease: KubeObject | undefined;
  /** Of what was asked, in order. */
  readonly requests: { readonly method: string; readonly timeoutMs: number | undefined }[] = [];
  #version = 0;

  put(holderIdentity: string, leaseTransitions = 0): void {
    this.#store({ holderIdentity, leaseDurationSeconds: 1, leaseTransitions });
  }

  get holder(): unknown {
    return fieldAt(this.lease, 'spec', 'holderIdentity');
  }

  get transitions(): unknown {
    return fieldAt(this.lease, 'spec', 'leaseTransitions');
  }

  readonly client: Pick<KubeClient, 'request'> = {
    request: async (method, _path, { body, timeoutMs } = {}) => {
      this.requests.push({ method, timeoutMs });
      if (method === 'GET') return this.lease ?? this.#refuse(404);
      if (method === 'POST' && this.lease !== undefined) return this.#refuse(409);
      const version = isKubeObject(body) ? body.metadata.resourceVersion : undefined;
      if (method === 'PUT' && version !== this.lease?.metadata.resourceVersion) return this.#refuse(409);
      return this.#store(fieldAt(body, 'spec'));
    },
  };

  #store(spec: unknown): KubeObject {
    const metadata = { namespace: 'bke-system', name: 'lease', resourceVersion: String((this.#version += 1)) };
    this.lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    return this.lease;
  }

  #refuse(status: number): never {
    throw statusError({ what: 'the lease', status, body: '{"reason":"x"}' });
  }
}
