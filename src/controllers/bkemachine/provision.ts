// What turns a claimed host into a node: prepared at once, and made a node as soon as there is bootstrap data for it.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { listAt, textAt } from '../../kube/fields.ts';
import { BkeError, toErrorReport } from '../../lib/errors.ts';
import type { HostView } from '../bkehost/host.ts';
import { isControlPlane } from '../cluster-objects.ts';
import { no, type Verdict, yes } from '../conditions.ts';
import { bootstrapOrder } from '../host-command/bootstrap.ts';
import { contentOf, type Order, readCommandID } from '../host-command/command-id.ts';
import { commandKeyOf, fulfil, type Giving } from '../host-command/give.ts';
import { afterAhead, type PrepareInput, prepareOrder } from '../host-command/prepare.ts';
import { type Progress, progressOf } from '../host-command/progress.ts';
import type { SiteView } from '../site-view.ts';
import { type Parts, progressVerdict } from './conditions.ts';
import { fillInbox, readBootstrapData } from './inbox.ts';

export interface Provisioning {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'patch'>;
  readonly host: HostView;
  readonly claimID: string;
  readonly providerID: string;
  /** The Machine of Cluster API. */
  readonly machine: KubeObject;
  readonly cluster: KubeObject;
  readonly bkeCluster: KubeObject | undefined;
  readonly site: SiteView;
  readonly giving: Giving;
  /** Content of the order that the host was prepared by; undefined: it was not yet. */
  readonly prepared: string | undefined;
}

export interface Provisioned {
  readonly parts: Pick<Parts, 'Prepared' | 'Bootstrapped'>;
  /** As above, as it is now. */
  readonly prepared: string | undefined;
  readonly bootstrapped: boolean;
  readonly waitMs?: number | undefined;
}

export async function provision(given: Provisioning): Promise<Provisioned> {
  // From here on there is no way back to preparing, whatever settings or releases say by now: it may be a node already.
  if (given.prepared !== undefined && (await hasBegun(given))) return bootstrap(given, given.prepared);
  const input = inputOf(given);
  const order = 'status' in input ? input : await wantedOrder(given, input);
  if ('status' in order) return { parts: { Prepared: order }, prepared: given.prepared, bootstrapped: false };
  const content = contentOf(order);
  if (given.prepared === content) return bootstrap(given, content);
  const { progress, waitMs } = await fulfil(given.giving, order);
  const Prepared = progressVerdict(progress, given.host.name, words.prepare);
  if (progress.state !== 'done') return { parts: { Prepared }, prepared: undefined, bootstrapped: false, waitMs };
  return { ...(await bootstrap(given, content)), prepared: content };
}

const words = {
  prepare: { running: 'Preparing', failed: 'PrepareFailed', done: 'Prepared' },
  bootstrap: { running: 'Bootstrapping', failed: 'BootstrapFailed', done: 'Bootstrapped' },
} as const;

async function hasBegun({ client, host }: Provisioning): Promise<boolean> {
  const command = await client.get(commandKeyOf(host));
  return readCommandID(textAt(command, 'spec', 'commandID') ?? '')?.purpose === 'bootstrap';
}

type Input = Omit<PrepareInput, 'site' | 'catalogues'>;

function inputOf({ host, machine, claimID, providerID, bkeCluster }: Provisioning): Input | Verdict {
  const version = textAt(machine, 'spec', 'version');
  if (version === undefined) return no('WaitingForVersion', 'its Machine has no spec.version');
  return {
    host,
    arch: textAt(host.object, 'status', 'facts', 'arch'),
    version,
    controlPlane: isControlPlane(machine),
    bkeCluster,
    claim: { id: claimID, providerID },
  };
}

/** All of it; or the little that is left where the host was prepared ahead. The same again while that is under way, and when it was done. */
async function wantedOrder({ client, host, site, prepared }: Provisioning, input: Input): Promise<Order | Verdict> {
  const whole = orderOrVerdict(site, input);
  if ('status' in whole || prepared === contentOf(whole)) return whole;
  const rest = afterAhead(whole);
  if (prepared === contentOf(rest)) return rest;
  const { claim: _claim, ...unclaimed } = input;
  const ahead = orderOrVerdict(site, unclaimed);
  const command = await client.get(commandKeyOf(host));
  const isBegun = !['absent', 'busy'].includes(progressOf(command, rest).state);
  const wasAhead = !('status' in ahead) && progressOf(command, ahead).state === 'done';
  return isBegun || wasAhead ? rest : whole;
}

/** @returns a verdict where the site is not known, or no release has what is needed */
export function orderOrVerdict(site: SiteView, input: Input): Order | Verdict {
  try {
    const order = prepareOrder({ ...input, site: site.site(), catalogues: site.catalogues() });
    if (!('missing' in order)) return order;
    const lines = order.missing.join(', ');
    const way = 'Load a bundle that has it: bke init --bundle FILE';
    return no('ArtifactsMissing', `${input.host.name}: no loaded release has, for ${input.version}: ${lines}. ${way}`);
  } catch (thrown) {
    if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_SITE_UNKNOWN') throw thrown;
    const { code, message, hint = '' } = toErrorReport(thrown);
    return no('SiteUnknown', `${code}: ${message}\n${hint}`);
  }
}

const inboxPollMs = 10_000;

async function bootstrap(given: Provisioning, prepared: string): Promise<Provisioned> {
  const { client, host, machine } = given;
  const Prepared = yes('Prepared', host.name);
  const not = (Bootstrapped: Verdict, waitMs?: number): Provisioned => ({
    parts: { Prepared, Bootstrapped },
    prepared,
    bootstrapped: false,
    waitMs,
  });
  const secret = textAt(machine, 'spec', 'bootstrap', 'dataSecretName');
  if (secret === undefined) return not(no('WaitingForBootstrapData', 'the bootstrap provider has not made it yet'));
  const data = await readBootstrapData(client, host.namespace, secret);
  if (data.state === 'absent') return not(no('WaitingForBootstrapData', `the Secret ${secret} has none`), 2000);
  if (data.state === 'unsupported') {
    return not(no('FormatUnsupported', `its bootstrap data is ${data.format}: bke runs cloud-config only`));
  }
  const { digest, progress: earlier } = await begunWith(given, data.digest);
  const order = orderWith(given, digest);
  // What the agent has confirmed needs its keys no more; and one that is at work with other data must not find this.
  if (earlier !== 'done' && digest === data.digest) await fillInbox(client, host, data.base64);
  const { progress, waitMs } = await fulfil(given.giving, order);
  const verdict = progressVerdict(progress, host.name, words.bootstrap);
  // Secrets are not watched: one that vanishes is put back while the agent still waits for it.
  if (progress.state !== 'done') return not(verdict, waitMs ?? inboxPollMs);
  return { parts: { Prepared, Bootstrapped: verdict }, prepared, bootstrapped: true };
}

function orderWith({ host, machine, claimID, providerID, bkeCluster }: Provisioning, digest: string): Order {
  return bootstrapOrder({ host, claimID, providerID, digest, bkeCluster, controlPlane: isControlPlane(machine) });
}

/**
 * The data that counts: what a host has begun with is what it becomes a node with. On a busy machine Cluster API was seen to make it anew, with
 * another token, seconds after it had said that it is there: the host was a node by then, and refused to become one with other data.
 */
async function begunWith(
  given: Provisioning,
  latest: string,
): Promise<{ readonly digest: string; readonly progress: Progress['state'] }> {
  const command = await given.client.get(commandKeyOf(given.host));
  const [step] = listAt(command, 'spec', 'steps');
  for (const digest of [textAt(step, 'parameters', 'digest') ?? latest, latest]) {
    const progress = progressOf(command, orderWith(given, digest)).state;
    if (progress === 'running' || progress === 'done') return { digest, progress };
  }
  return { digest: latest, progress: 'absent' };
}
