// A management cluster in memory with one cluster that comes up, and its operation, carried on by hand.
import { expect } from 'vitest';
import type { EventBody } from '../../src/api/events.ts';
import { bkeOperation, type BKEOperationStatus } from '../../src/api/kinds/bke-operation.ts';
import { createChains, createFrame } from '../../src/controllers/bkeoperation/create.ts';
import type { Asking } from '../../src/controllers/bkeoperation/host-errors.ts';
import { advance } from '../../src/controllers/bkeoperation/progress.ts';
import { withEvents } from '../../src/controllers/bkeoperation/ring.ts';
import { type KindName, kinds, worldOf } from '../../src/controllers/bkeoperation/world.ts';
import type { KubeObject } from '../../src/kube/client.ts';

export const began = Date.parse('2026-11-30T10:00:00.000Z');
export const clusterName = 'prod';
const name = clusterName;
const clusterLabel = { 'cluster.x-k8s.io/cluster-name': name };

/** A management cluster, and one operation in it that is carried on. */
export class ClusterSite {
  readonly objects = new Map<string, KubeObject>();
  status: BKEOperationStatus = {};
  readonly asking: Asking = { name: 'create-1', since: '2026-11-30T10:00:00Z' };

  put(
    kind: KindName,
    object: string,
    fields: { spec?: object; status?: object; labels?: Record<string, string> },
  ): void {
    const { labels = {}, ...rest } = fields;
    const metadata = { namespace: 'bke', name: object, labels: { ...clusterLabel, ...labels } };
    this.objects.set(`${kind} ${object}`, { ...kinds[kind], metadata, ...rest });
  }

  host(host: string, pool: string, available: object): void {
    const labels = { 'bke.io/cluster': name, 'bke.io/pool': pool };
    const condition = { type: 'Available', lastTransitionTime: '2026-11-30T10:00:00Z', message: '', ...available };
    this.put('host', host, { labels, spec: {}, status: { conditions: [condition] } });
  }

  /** A machine takes the host, and its agent gets a command. */
  claim(host: string, pool: 'control-plane' | 'workers', steps: readonly object[]): void {
    const labels: Record<string, string> = pool === 'control-plane' ? { 'cluster.x-k8s.io/control-plane': '' } : {};
    const machine = `m-${host}`;
    this.put('host', host, {
      labels: { 'bke.io/cluster': name, 'bke.io/pool': pool },
      spec: { consumerRef: { namespace: 'bke', name: machine } },
    });
    this.put('bkeMachine', machine, { labels });
    this.put('machine', machine, { labels, spec: { infrastructureRef: { name: machine } } });
    const ids = steps.map((step, index) => ({ id: `s${index}`, ...step }));
    const spec = { commandID: 'c-1', steps: ids.map((step) => ({ id: step.id, task: Reflect.get(step, 'task') })) };
    this.put('command', host, { spec, status: { commandID: 'c-1', steps: ids } });
  }

  prepared(host: string): void {
    this.put('bkeMachine', `m-${host}`, {
      status: { conditions: [{ type: 'Prepared', status: 'True', reason: 'Prepared' }] },
    });
  }

  node(host: string, ready: boolean): void {
    const machine = `m-${host}`;
    const conditions = [
      {
        type: 'NodeReady',
        status: ready ? 'True' : 'False',
        reason: 'NodeNotReady',
        message: 'cni plugin not initialized',
      },
    ];
    this.put('machine', machine, {
      spec: { infrastructureRef: { name: machine } },
      status: { nodeRef: { name: host }, conditions },
    });
  }

  /** @returns what is told then */
  carryOn(seconds: number, cancelled = false): readonly EventBody[] {
    // As the controller does.
    if (this.status.finished !== undefined) return [];
    const now = new Date(began + seconds * 1000);
    const listed = (kind: KindName) =>
      [...this.objects].flatMap(([key, object]) => (key.startsWith(`${kind} `) ? [object] : []));
    const world = worldOf({ namespace: 'bke', name }, listed);
    const { status, events } = advance(this.status, createChains(world, this.status, this.asking), {
      frame: createFrame({ namespace: 'bke', name }),
      now,
      cancelled,
    });
    this.status = { ...status, events: withEvents(this.status.events ?? [], events, now) };
    // What is written is what the API server takes.
    expect(bkeOperation.shape.status.safeParse(this.status).error).toBeUndefined();
    return events;
  }
}

export function resources(site: ClusterSite): void {
  site.put('cluster', name, { spec: { infrastructureRef: { name }, controlPlaneRef: { name: 'prod-cp' } } });
  site.put('bkeCluster', name, { spec: { cni: 'flannel' } });
  site.put('controlPlane', 'prod-cp', { spec: { replicas: 1 } });
  site.put('deployment', 'prod-workers', { spec: { replicas: 1 } });
}

export const available = { status: 'True', reason: 'Available' };
export const enrolling = { status: 'False', reason: 'Enrolling', message: 'bringing bke to the host' };
