// Whether a host is to be dialled now, and the job that does it.
import type { Site } from '../../cluster/site.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import type { HostNeeds } from '../../tasks/preflight/check.ts';
import { identityOf } from '../object-status.ts';
import { agentToken, ensureAccess, fieldManager } from './access.ts';
import type { BinarySources } from './binary.ts';
import { type Connect, enrol } from './enrol.ts';
import type { Heartbeat } from './heartbeats.ts';
import { askedBy, hostFinalizer, type HostView } from './host.ts';
import type { HostJobs, JobScope } from './jobs.ts';
import { inputsOf, type Login, loginOf, targetOf } from './login.ts';
import type { HostMemory } from './memory.ts';
import type { Assessment } from './needs.ts';
import { isAskedAnew, isHeldAsReset } from './was-reset.ts';

export interface Enrolling {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'create' | 'request'>;
  readonly connect: Connect;
  readonly jobs: HostJobs;
  readonly now: () => Date;
  /** Whether the HostCommand of the host is there. */
  readonly hasCommand: boolean;
  readonly needs: HostNeeds;
  /** By the facts in memory. */
  readonly assess: () => Assessment | undefined;
  /** @throws BkeError BKE_SITE_UNKNOWN */
  site(): Site;
  sources(site: Site): BinarySources;
}

interface Wanting extends Enrolling {
  readonly key: string;
  readonly memory: HostMemory;
  readonly heartbeat: Heartbeat;
  readonly signal: AbortSignal;
}

const enrolMs = 20 * 60_000;
/** A host whose checks failed is looked at again: somebody may have mended it. */
const lookAgainMs = 30_000;
/** A host that starts anew, or whose network was cut, comes back by itself. */
const silenceMs = 120_000;
/** The first heartbeat was proven on the host; it is seen here a moment later. */
const firstBeatMs = 30_000;

/** Starts the job where it is time for it. @returns after how many ms to ask again; undefined where nothing is to be done, or it runs */
export async function enrolJob(view: HostView, wanting: Wanting): Promise<number | undefined> {
  const { client, heartbeat, hasCommand, jobs, key } = wanting;
  if (heartbeat.state === 'fresh' && !hasCommand) await ensureAccess(client, view);
  const login = loginOf(view);
  if (jobs.isRunning(key) || login === undefined || view.spec.maintenance !== undefined) return undefined;
  const waitMs = whyWait(view, wanting);
  if (waitMs === 'nothing') return undefined;
  return waitMs > 0 ? waitMs : start(view, wanting, login);
}

async function start(view: HostView, wanting: Wanting, login: Login): Promise<number | undefined> {
  const { client, jobs, key, memory, signal } = wanting;
  const secret = await client.get(login.secret);
  const inputs = inputsOf(view, secret);
  const run = (scope: JobScope): Promise<void> => enrolHost(view, secret, { ...wanting, scope });
  const before = jobs.of(key);
  // What the last login came to is about other credentials, or was long ago.
  if (before?.inputs !== inputs || before.failure === undefined) delete memory.reached;
  return jobs.want(key, { name: 'enrol', inputs, timeoutMs: enrolMs, signal, run });
}

/** How long not to dial yet, in ms; 'nothing': there is no reason to. */
function whyWait({ object, spec }: HostView, { heartbeat, memory, assess }: Wanting): number | 'nothing' {
  const { state, leftMs = 0 } = heartbeat;
  if (state === 'unproven') return leftMs;
  const passes = hasPassed(assess());
  const looked = passes && memory.wasReset !== true ? 0 : untilNextLook(memory, askedBy(object));
  // A host in use is not held to checks for a bare one.
  if (state === 'fresh') return passes || spec.consumerRef !== undefined ? 'nothing' : looked;
  return Math.max(looked, sinceInstall(memory), isAskedAnew(object, memory) ? 0 : untilBack(heartbeat));
}

/** Not for one who asks: an agent that was taken off the host does not come back by itself. */
function untilBack({ state, silentMs = silenceMs }: Heartbeat): number {
  return state === 'lost' ? silenceMs - silentMs : 0;
}

/** Whoever asks anew has it looked at again at once. */
function untilNextLook({ lookedAt, lookedFor }: HostMemory, asked: string | undefined): number {
  return lookedAt === undefined || lookedFor !== asked ? 0 : left(lookedAt, lookAgainMs);
}

function hasPassed(assessment: Assessment | undefined): boolean {
  return assessment?.preflight.status === 'True' && assessment.clean.status === 'True';
}

function sinceInstall({ installedAt }: HostMemory): number {
  return installedAt === undefined ? 0 : left(installedAt, firstBeatMs);
}

function left(since: number, ms: number): number {
  return Math.max(0, since + ms - performance.now());
}

async function enrolHost(
  view: HostView,
  secret: KubeObject | undefined,
  { client, connect, memory, needs, scope, ...rest }: Wanting & { readonly scope: JobScope },
): Promise<void> {
  let reached = false;
  const isUp = rest.heartbeat.state === 'fresh';
  let changes = false;
  const attempt = async (): Promise<void> =>
    enrol(
      {
        host: view,
        target: targetOf(view, secret),
        connect,
        look: { paths: ['/', ...needs.space.map(({ path }) => path)], tools: needs.tools },
        reached: () => {
          reached = true;
          memory.reached = true;
        },
        judge: (facts) => {
          memory.facts = { facts, at: rest.now(), address: view.spec.address };
          memory.wasReset = isHeldAsReset(view, facts, { heartbeat: rest.heartbeat, memory });
          memory.lookedAt = performance.now();
          memory.lookedFor = askedBy(view.object);
          if (isUp || memory.wasReset) return false;
          if (view.spec.consumerRef !== undefined) return true;
          return hasPassed(rest.assess());
        },
        admit: async () => {
          const site = rest.site();
          scope.signal.throwIfAborted();
          await holdBack(client, view);
          await ensureAccess(client, view);
          changes = true;
          return { site, token: await agentToken(client, view), sources: rest.sources(site) };
        },
      },
      scope,
    );
  try {
    await attempt();
  } catch (thrown) {
    memory.reached = reached;
    throw thrown;
  }
  if (changes) memory.installedAt = performance.now();
}

/** From now on something of bke may be on the host. Refused by the API server where the host is being deleted. */
async function holdBack(client: Pick<KubeClient, 'apply'>, { object }: HostView): Promise<void> {
  const frame = identityOf(object);
  const held = { ...frame, metadata: { ...frame.metadata, finalizers: [hostFinalizer] } };
  await client.apply(held, { fieldManager, force: true });
}
