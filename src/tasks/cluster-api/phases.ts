// Cluster API and bke's provider, installed into a cluster from the artifacts of a release.
import type { Phase, Step } from '../../operations/operation.ts';
import type { Catalogue } from '../../release/catalogue.ts';
import type { Platform } from '../../release/platforms.ts';
import type { BootstrapCluster } from '../bootstrap-cluster/bootstrap-cluster.ts';
import type { TaskScope } from '../task.ts';
import { hasComponents } from './components.ts';
import { type Connect, connectByKubeconfig, withClient } from './connect.ts';
import { Installation, type SitePlan, type Work } from './installation.ts';
import { providers } from './providers.ts';
import { waitForProvider, waitForWebhook } from './waits.ts';

export { missingForManagement } from './artifacts.ts';

export interface ManagementPlan {
  /** As events name the host. */
  readonly host: string;
  readonly cluster: Pick<BootstrapCluster, 'kubeconfig' | 'ready'>;
  readonly catalogue: Catalogue;
  readonly platform: Platform;
  /** Folder of the file repository on this host. */
  readonly filesDir: string;
  /** Version of this bke: its image in the catalogue is the provider. */
  readonly bkeVersion: string;
  readonly site: SitePlan;
  readonly now: () => Date;
}

const minuteMs = 60_000;
/** Longer than what `ready` itself waits at most. */
const readyMs = 30 * minuteMs;
const applyMs = 5 * minuteMs;
const startMs = 11 * minuteMs;
const proofMs = 4 * minuteMs;
/** A dry run waits for nothing. */
const done = Promise.resolve();

/**
 * Every step looks first: running them again changes nothing, and goes on where an earlier run was ended.
 * @param connect how the cluster is reached; by its kubeconfig.
 */
export function managementPhases(
  plan: ManagementPlan,
  connect: Connect = connectByKubeconfig(plan.cluster.kubeconfig),
): readonly Phase<TaskScope>[] {
  const { kubeconfig } = plan.cluster;
  const installation = new Installation({ ...plan, kubeconfig });
  const step = (name: string, title: string, timeoutMs: number, work: (work: Work) => Promise<void>) => ({
    name: `management/${name}`,
    title,
    timeoutMs,
    run: (scope: TaskScope) => withClient(connect, scope, (client) => work({ scope, client })),
  });
  const put = (name: string, title: string, work: (work: Work) => Promise<void>) =>
    step(name, title, applyMs, async (given) => {
      const { scope } = given;
      if (scope.dryRun && !(await hasComponents(scope.host, plan)))
        await scope.act(`put into the cluster: ${title}`, async () => true);
      else await work(given);
    });
  const install = [
    put('namespaces', 'Namespaces', (work) => installation.namespaces(work)),
    put('certificates', 'Management CA and certificates of the webhooks', (work) => installation.certificates(work)),
    put('catalogue', 'Catalogue of the release', (work) => installation.catalogue(work)),
    put('site', 'Settings of the site', (work) => installation.site(work)),
    put('inventory', "clusterctl's inventory", (work) => installation.inventory(work)),
    ...providers.map((provider) =>
      put(provider.name, `Components of ${provider.title}`, (work) => installation.provider(work, provider)),
    ),
  ];
  const kubectl = `kubectl --kubeconfig ${kubeconfig}`;
  const proven = (step: Step<TaskScope>): Step<TaskScope> => ({ ...step, found: 'proven' });
  const proof = [
    ...providers.map((provider) =>
      step(`${provider.name}-ready`, `${provider.title} runs`, startMs, ({ scope, client }) =>
        client === undefined ? done : waitForProvider({ scope, kubectl }, client, provider),
      ),
    ),
    ...providers
      .filter(({ webhook }) => webhook !== undefined)
      .map((provider) =>
        step(`${provider.name}-webhook`, `Webhooks of ${provider.title} answer`, proofMs, ({ scope, client }) =>
          client === undefined ? done : waitForWebhook({ scope, kubectl }, client, provider),
        ),
      ),
  ];
  return [
    phase(plan, 'management', 'Cluster API', [
      readyStep(plan, { name: 'cluster', title: 'The cluster is ready' }),
      ...install,
    ]),
    phase(plan, 'management-proof', 'Proof: Cluster API runs and its webhooks answer', [
      ...proof.map(proven),
      // The start of so many programs makes a small machine's own ones miss their probes.
      readyStep(plan, { name: 'cluster-stays', title: 'The cluster is ready with them' }),
    ]),
  ];
}

function phase({ host }: ManagementPlan, id: string, title: string, steps: Step<TaskScope>[]): Phase<TaskScope> {
  return { id, title, chains: [{ host, steps }], stopOnFailure: true };
}

function readyStep(
  { cluster }: ManagementPlan,
  { name, title }: Pick<Step<TaskScope>, 'name' | 'title'>,
): Step<TaskScope> {
  return {
    name: `management/${name}`,
    title,
    timeoutMs: readyMs,
    found: 'proven',
    run: async (scope) => {
      if (!scope.dryRun) await cluster.ready(scope);
    },
  };
}
