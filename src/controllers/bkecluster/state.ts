// The state of a cluster: one word for people, why, since when, and what holds it. Pure. The first that applies wins.
import { timeText } from '../../lib/time-text.ts';

export const stateNames = [
  'Deleting',
  'DeleteFailed',
  'Upgrading',
  'InstallFailed',
  'Installing',
  'Scaling',
  'Abnormal',
  'Healthy',
] as const;
export type StateName = (typeof stateNames)[number];

export interface Trouble {
  readonly host?: string | undefined;
  readonly step?: string | undefined;
  readonly message: string;
}

export interface HealthTrouble extends Trouble {
  /** Absent: its API server answers, and something in the cluster is not ready. */
  readonly reason?: 'Unreachable' | 'AddonFailed';
}

export interface Count {
  readonly controlPlane: number;
  readonly workers: number;
}

export interface StateInput {
  readonly deleting: boolean;
  /** What of a deletion does not go on. */
  readonly deleteTrouble: readonly Trouble[];
  /** Machines of another version than is wanted. */
  readonly outdated: number;
  /** All of the first nodes have joined once. */
  readonly installed: boolean;
  readonly wanted: Count;
  /** Machines with a node that are to stay. */
  readonly joined: Count;
  /** Machines without a node that are to stay, also those above what is wanted: what replaces another one comes beside it. */
  readonly unjoined: number;
  /** Machines that are going. */
  readonly leaving: number;
  /** A worker that is not there yet has begun to join. */
  readonly joining: boolean;
  /** Machines whose host does not do what it should. */
  readonly failed: readonly Trouble[];
  /** What is waited for now. */
  readonly waits: Trouble | undefined;
  /** Why the cluster is not healthy; undefined: it is. Asked only where all nodes have joined. */
  readonly health: HealthTrouble | undefined;
  readonly before: string | undefined;
}

export interface State extends Trouble {
  readonly name: StateName;
  readonly reason: string;
}

export function stateOf(input: StateInput): State {
  return deletion(input) ?? change(input) ?? health(input);
}

function deletion({ deleting, deleteTrouble, waits }: StateInput): State | undefined {
  if (!deleting) return undefined;
  if (deleteTrouble.length > 0) return { name: 'DeleteFailed', reason: 'CleanUpFailed', ...gathered(deleteTrouble) };
  return { name: 'Deleting', reason: 'Deleting', ...(waits ?? { message: 'its machines are going' }) };
}

function change(input: StateInput): State | undefined {
  const { outdated, installed, failed, waits } = input;
  const missing = missingOf(input);
  if (installed && outdated > 0) {
    const held = waits ?? { message: `${outdated} machines have another version` };
    return { name: 'Upgrading', reason: 'Upgrading', ...held };
  }
  if (missing.controlPlane + missing.workers === 0) return shrinking(input) ?? replacing(input);
  if (failed.length === 0) return growing(input, missing);
  return { name: 'InstallFailed', reason: installed ? 'ScaleOutFailed' : 'InstallFailed', ...gathered(failed) };
}

function shrinking({ leaving, failed, waits }: StateInput): State | undefined {
  if (leaving === 0) return undefined;
  if (failed.length > 0) return { name: 'Abnormal', reason: 'ScaleInFailed', ...gathered(failed) };
  return { name: 'Scaling', reason: 'ScalingIn', ...(waits ?? { message: `${leaving} machines are going` }) };
}

function replacing({ unjoined, failed, waits }: StateInput): State | undefined {
  if (unjoined === 0) return undefined;
  if (failed.length > 0) return { name: 'Abnormal', reason: 'ReplaceFailed', ...gathered(failed) };
  return { name: 'Scaling', reason: 'Replacing', ...(waits ?? { message: `${unjoined} machines have no node yet` }) };
}

function growing(input: StateInput, missing: Count): State {
  const message = `${missing.controlPlane} control planes and ${missing.workers} workers have not joined yet`;
  const held = input.waits ?? { message };
  const { installed } = input;
  if (isScaling(input, missing)) {
    return { name: 'Scaling', reason: installed ? 'ScalingOut' : 'JoiningWorkers', ...held };
  }
  const stage = missing.controlPlane > 0 ? 'ControlPlane' : 'Workers';
  return { name: 'Installing', reason: installed ? 'ScalingOut' : stage, ...held };
}

/** From when the first worker begins to join until the last has. One worker alone belongs to the installation. */
function isScaling({ installed, wanted, joining, joined, before }: StateInput, missing: Count): boolean {
  if (missing.workers === 0 || (!installed && wanted.workers < 2)) return false;
  return joining || before === 'Scaling' || (!installed && joined.workers > 0);
}

function health({ health: trouble }: StateInput): State {
  if (trouble === undefined) return { name: 'Healthy', reason: 'AllReady', message: '' };
  return { name: 'Abnormal', reason: 'NotReady', ...trouble };
}

export function missingOf({ wanted, joined }: Pick<StateInput, 'wanted' | 'joined'>): Count {
  return {
    controlPlane: Math.max(0, wanted.controlPlane - joined.controlPlane),
    workers: Math.max(0, wanted.workers - joined.workers),
  };
}

const mostTold = 10;

/** All hosts that failed in one text; the first one is what holds it. */
function gathered(troubles: readonly Trouble[]): Trouble {
  const [first] = troubles;
  const more = troubles.length > mostTold ? [`… and ${troubles.length - mostTold} more`] : [];
  const lines = [...troubles.slice(0, mostTold).map(({ message }) => message), ...more];
  return { host: first?.host, step: first?.step, message: lines.join('\n') };
}

export interface StoredState {
  readonly name: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly since: string;
  readonly host?: string | undefined;
  readonly step?: string | undefined;
}

const longestMessage = 4000;
const mostHistory = 100;

/** Since when it is so stays while name and reason do; what it was before goes into the history with its own time. */
export function storedState(
  before: { readonly state: StoredState | undefined; readonly history: readonly StoredState[] },
  now: State,
  at: Date,
): { readonly state: StoredState; readonly history: readonly StoredState[] } {
  const { state, history } = before;
  if (state === undefined) return { state: written(now, timeText(at)), history };
  if (state.name === now.name && state.reason === now.reason) return { state: written(now, state.since), history };
  return { state: written(now, timeText(at)), history: [...history, state].slice(-mostHistory) };
}

function written({ name, reason, message, host, step }: State, since: string): StoredState {
  return {
    name,
    reason,
    ...(message === '' ? {} : { message: message.slice(0, longestMessage) }),
    since,
    ...(host === undefined ? {} : { host }),
    ...(step === undefined ? {} : { step: step.slice(0, 253) }),
  };
}
