// A manager of controllers in the test's own process, as `bke controller run` makes one.
import type { Controller, ControllerContext } from '../../../src/controllers/controller.ts';
import { createEventRecorder } from '../../../src/controllers/event-recorder.ts';
import { createManager, type Manager } from '../../../src/controllers/manager.ts';
import { createMetrics } from '../../../src/controllers/metrics.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { silentLog } from '../../fakes/log.ts';

const namespace = 'bke-system';

/** @param given in place of what a manager has of its own */
export function testManager(
  client: KubeClient,
  controllersOf: (context: ControllerContext) => readonly Controller[],
  given: Partial<Pick<ControllerContext, 'events' | 'metrics'>> = {},
): Manager {
  const now = (): Date => new Date();
  const metrics = given.metrics ?? createMetrics();
  const events = given.events ?? createEventRecorder({ client, namespace, instance: 'test', now, log: silentLog });
  return createManager({
    client,
    controllers: controllersOf({ events, metrics, now, namespace: undefined }),
    lease: { namespace, name: 'bke-controller-manager', identity: 'test' },
    metrics,
    log: silentLog,
  });
}
