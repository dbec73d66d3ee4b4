// The certificates controller: what it tells people. What it does to objects is tested on a real API server.
import { beforeAll, expect, it } from 'vitest';
import { certificatesController } from '../../../src/controllers/certificates/controller.ts';
import type { ObjectEvent } from '../../../src/controllers/event-recorder.ts';
import { createMetrics } from '../../../src/controllers/metrics.ts';
import type { KubeClient, KubeObject, ObjectKey } from '../../../src/kube/client.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { createCaCertificate, generateKey } from '../../../src/lib/x509.ts';
import { tlsSecret } from '../../../src/tasks/cluster-api/tls-secret.ts';
import { reconcileScope } from '../../fakes/scope.ts';

type Client = Pick<KubeClient, 'get' | 'list' | 'apply' | 'patch'>;

const now = new Date('2026-06-01T00:00:00Z');
const scope = reconcileScope();
let ca: KubeObject;

beforeAll(async () => {
  const key = generateKey();
  const certificate = await createCaCertificate(key, { commonName: 'test', now, days: 3650 });
  ca = tlsSecret({ namespace: 'bke-system', name: 'bke-management-ca' }, { certificate, key });
});

/** A cluster with only the CA, in which nothing is refused. */
function cluster(parts: Partial<Client> = {}): Client {
  return {
    get: async ({ name }: ObjectKey) => (name === ca.metadata.name ? ca : undefined),
    list: async () => ({ items: [], resourceVersion: '1' }),
    apply: async (object) => object,
    patch: () => Promise.reject(new Error('nothing to patch')),
    ...parts,
  };
}

function controller(client: Client, today = now) {
  const told: ObjectEvent[] = [];
  const events = { record: async (event: ObjectEvent) => void told.push(event) };
  const context = { events, metrics: createMetrics(), now: () => today, namespace: undefined };
  return { told, made: certificatesController(client, context) };
}

it('looks again in an hour, and tells nothing where all is well', async () => {
  const { told, made } = controller(cluster());
  expect(await made.reconcile('certificates', scope)).toEqual({ requeueAfterMs: 3_600_000 });
  expect(told).toEqual([]);
});

it('warns of the end of the CA in an event about it', async () => {
  const { told, made } = controller(cluster(), new Date('2036-03-01T00:00:00Z'));
  await made.reconcile('certificates', scope);
  expect(told).toMatchObject([
    {
      type: 'Warning',
      reason: 'ManagementCAEndsSoon',
      object: { kind: 'Secret', metadata: { namespace: 'bke-system', name: 'bke-management-ca' } },
      message: expect.stringContaining('2036-05-'),
    },
  ]);
});

it('tells what people must mend in an event, and fails so that it is tried again', async () => {
  const { told, made } = controller(cluster({ get: async () => undefined }));
  await expect(made.reconcile('certificates', scope)).rejects.toMatchObject({ code: 'BKE_MANAGEMENT_CA' });
  expect(told).toMatchObject([{ reason: 'CertificatesNotKept', message: expect.stringMatching(/missing.*bke init/) }]);
});

it('is silent about what passes by itself', async () => {
  const away = new BkeError('BKE_KUBE_UNREACHABLE', 'no API server answers');
  const { told, made } = controller(cluster({ get: () => Promise.reject(away) }));
  await expect(made.reconcile('certificates', scope)).rejects.toBe(away);
  expect(told).toEqual([]);
});
