// The controllers of bke as a process: which there are, under which lease, and what it answers about itself.
import { controllerLeaseKey } from '../cluster/site.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { createKubeClient } from '../kube/create-client.ts';
import type { LeaseTiming } from '../kube/lease.ts';
import { connect } from '../host/ssh/connect.ts';
import { bkeVersion } from '../lib/version.ts';
import { systemNamespace } from '../tasks/cluster-api/providers.ts';
import { addonsController } from './addons/controller.ts';
import { Manifests } from './addons/manifests.ts';
import { bkeClusterController } from './bkecluster/controller.ts';
import { bkeHostController } from './bkehost/controller.ts';
import { ownBinary } from './bkehost/own-binary.ts';
import { bkeOperationController } from './bkeoperation/controller.ts';
import { bkeMachineController } from './bkemachine/controller.ts';
import { certificatesController } from './certificates/controller.ts';
import { watchContact } from './contact.ts';
import type { Controller, ControllerContext } from './controller.ts';
import { type Endpoint, type Reply, startEndpoint } from './endpoints.ts';
import { createEventRecorder } from './event-recorder.ts';
import { highestGeneration } from './generations.ts';
import { fencedConnect, LeadFence } from './lead-fence.ts';
import type { Log } from '../lib/log.ts';
import { createManager, type Manager } from './manager.ts';
import { createMetrics } from './metrics.ts';
import { WorkloadClients } from './workload.ts';

export interface ProcessOptions {
  readonly connection: KubeConnection;
  /** Of this process alone; holds the lease. */
  readonly identity: string;
  /** Looks after the clusters and hosts of this namespace only; undefined: of all. */
  readonly namespace: string | undefined;
  readonly healthPort: number;
  readonly metricsPort: number;
  readonly log: Log;
  readonly now: () => Date;
  readonly leaseTiming?: LeaseTiming;
}

/**
 * Until the signal, then in less than eight seconds.
 * @throws a system error where a port can't be had; as Manager.run does
 */
export async function runControllers(options: ProcessOptions, signal: AbortSignal): Promise<void> {
  const fence = new LeadFence();
  // The lease has a client of its own: it is written while nothing else may be.
  const [leaseClient, client] = [createKubeClient(options.connection), createKubeClient(options.connection, fence)];
  try {
    await runAll(options, { client, leaseClient, fence }, signal);
  } finally {
    client.close();
    leaseClient.close();
  }
}

interface Clients {
  readonly client: KubeClient;
  readonly leaseClient: KubeClient;
  readonly fence: LeadFence;
}

async function runAll(
  options: ProcessOptions,
  { client, leaseClient, fence }: Clients,
  signal: AbortSignal,
): Promise<void> {
  const { identity, log, now, leaseTiming } = options;
  const metrics = createMetrics();
  const events = createEventRecorder({ client, namespace: systemNamespace, instance: identity, now, log });
  const manager = createManager({
    client,
    controllers: await controllersOf(client, fence, { events, metrics, now, namespace: options.namespace, fence }),
    fence,
    leaseClient,
    lease: {
      namespace: controllerLeaseKey.namespace,
      name: controllerLeaseKey.name,
      identity,
      generationFloor: () => highestGeneration(client),
      ...(leaseTiming === undefined ? {} : { timing: leaseTiming }),
    },
    metrics,
    log,
  });
  const contact = watchContact({ client: leaseClient, now, signal });
  const endpoints: Endpoint[] = [];
  try {
    endpoints.push(
      await startEndpoint(options.healthPort, {
        '/healthz': () => ({ status: 200, text: 'ok\n' }),
        '/readyz': () => readiness(manager, contact.lostSince()),
        '/watches': () => ({ status: 200, text: watchesText(manager) }),
      }),
      await startEndpoint(options.metricsPort, {
        '/metrics': async () => ({ status: 200, ...(await metrics.render()) }),
      }),
    );
    const [health, metricsEndpoint] = endpoints;
    log.info({ identity, healthPort: health?.port, metricsPort: metricsEndpoint?.port }, 'started');
    await manager.run(signal);
  } finally {
    await Promise.all(endpoints.map((endpoint) => endpoint.stop()));
  }
}

async function controllersOf(
  client: KubeClient,
  fence: LeadFence,
  context: ControllerContext,
): Promise<readonly Controller[]> {
  const hosts = { connect: fencedConnect(connect, fence), version: await bkeVersion(), own: await ownBinary() };
  const workloads = new WorkloadClients(client, context);
  return [
    certificatesController(client, context),
    bkeHostController(client, context, hosts),
    bkeMachineController(client, context),
    bkeClusterController(client, context, workloads),
    addonsController(client, context, { workloads, manifests: new Manifests() }),
    bkeOperationController(client, context),
  ];
}

/** For people: what each kind's copy is worth. */
function watchesText(manager: Manager): string {
  const lines = manager.watches();
  return `${lines.length === 0 ? 'this process waits for the lease' : lines.join('\n')}\n`;
}

function readiness(manager: Manager, lostSince: Date | undefined): Reply {
  const problem =
    lostSince === undefined
      ? manager.whyNotReady()
      : `the API server has not answered since ${lostSince.toISOString()}`;
  return problem === undefined ? { status: 200, text: 'ok\n' } : { status: 503, text: `${problem}\n` };
}
