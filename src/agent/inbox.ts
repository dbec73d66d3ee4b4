// The host's HostCommand: watched, judged (new, known, of a leader of before) and carried out, one after another.
import { setTimeout as pause } from 'node:timers/promises';
import { agentObjects, type AgentSettings } from '../api/agent-config.ts';
import { apiVersionName, bkeGroup } from '../api/kinds/common.ts';
import { type HostCommandSpec, hostCommandSpec } from '../api/kinds/host-command.ts';
import type { Log } from '../lib/log.ts';
import type { KubeClient, KubeObject } from '../kube/client.ts';
import { fieldAt, listAt, numberAt, textAt } from '../kube/fields.ts';
import { type Change, startInformer } from '../kube/informer.ts';
import { BkeError, toErrorReport } from '../lib/errors.ts';
import { digestOf } from '../lib/digest.ts';
import { rest } from '../lib/rest.ts';
import { type CommandState, isOver, newCommand, refusedCommand, statusOf, withRestCancelled } from './command-state.ts';
import type { CommandStore } from './command-store.ts';
import { executeCommand, type ExecuteOptions } from './execute.ts';
import type { StatusReporter } from './reporter.ts';

export const hostCommandKind = { apiVersion: `${bkeGroup}/${apiVersionName}`, kind: 'HostCommand' };

export interface InboxOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly settings: AgentSettings;
  readonly store: CommandStore;
  readonly reporter: StatusReporter;
  readonly log: Log;
  readonly now: () => Date;
  readonly execute: Omit<ExecuteOptions, 'report' | 'store'>;
  /** How long nothing is to do after a command until `run` ends where the process is larger than it may be while it only waits. */
  readonly rest: { readonly idleMs: number; readonly mostBytes: number };
}

/** So long a command of before waits for the cluster, which may have cancelled it meanwhile. */
const syncMs = 3000;
const backOff = { firstMs: 500, mostMs: 10_000 };

export class Inbox {
  readonly #options: InboxOptions;
  readonly #realm: string;
  /** As last seen; undefined also where it vanished, which means nothing. */
  #latest: KubeObject | undefined;
  #running: { readonly commandID: string; readonly cancel: AbortController } | undefined;
  #wake = Promise.withResolvers<void>();
  #worked = false;

  constructor(options: InboxOptions) {
    this.#options = options;
    const { ca, namespace } = options.settings;
    this.#realm = digestOf(`${namespace}\0${ca}`);
  }

  /** Until the signal, and until the step that runs then has come to a safe point; or until it is better to begin anew (`rest`). */
  async run(signal: AbortSignal): Promise<void> {
    const { client, settings, store } = this.#options;
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    const name = agentObjects(settings.host).hostCommand;
    const list = { namespace: settings.namespace, fieldSelector: `metadata.name=${name}` };
    const informer = startInformer(
      { client, kind: hostCommandKind, list, signal, onChange: (change) => this.#see(change) },
      backOff,
    );
    await Promise.race([informer.synced().catch(() => undefined), rest(syncMs, signal)]);
    const current = store.current;
    if (current !== undefined && !isOver(current)) await this.#execute(current, signal);
    while (!signal.aborted) {
      const latest = this.#latest;
      this.#latest = undefined;
      if (latest !== undefined) await this.#judge(latest, signal);
      else if (await this.#isTooLarge(signal)) return;
    }
    await informer.ended;
  }

  /** Waits for something to do. Node keeps most of the memory that work once took: true where that is too much for a process that waits. */
  async #isTooLarge(signal: AbortSignal): Promise<boolean> {
    const { idleMs, mostBytes } = this.#options.rest;
    const woken = new AbortController();
    const stop = AbortSignal.any([signal, woken.signal]);
    const rested = this.#worked
      ? pause(idleMs, true, { signal: stop }).catch(() => false)
      : new Promise<never>(() => undefined);
    const isRested = await Promise.race([rested, this.#wake.promise.then(() => false)]);
    woken.abort();
    if (!isRested) this.#wake = Promise.withResolvers<void>();
    else this.#worked = false;
    return isRested && process.memoryUsage.rss() > mostBytes;
  }

  #see(change: Change): void {
    if (change.type === 'deleted') return;
    this.#latest = change.object;
    const spec = fieldAt(change.object, 'spec');
    if (fieldAt(spec, 'cancelRequested') === true && textAt(spec, 'commandID') === this.#running?.commandID) {
      this.#running?.cancel.abort(new BkeError('BKE_CANCELLED', 'the command was cancelled'));
    }
    this.#wake.resolve();
  }

  async #judge(object: KubeObject, signal: AbortSignal): Promise<void> {
    const { store, reporter, log } = this.#options;
    const { data: spec } = hostCommandSpec.safeParse(fieldAt(object, 'spec'));
    if (spec === undefined) {
      log.warn({ version: object.metadata.resourceVersion }, 'the command is of a form that this agent does not know');
      return;
    }
    const { current } = store;
    if (current?.spec.commandID === spec.commandID) {
      if (!isTold(object, current)) reporter.report(statusOf(current));
      return;
    }
    // An agent that was installed anew knows nothing of what was done before it: the cluster does.
    if (isToldOver(object, spec)) return;
    const refusal = this.#refusal(spec);
    if (refusal === undefined) return this.#take(spec, signal);
    // What stands there already was told when it ran, or when it was refused.
    if (textAt(object, 'status', 'commandID') === spec.commandID) return;
    this.#refuse(spec, refusal);
  }

  #refusal({ commandID, leaseGeneration }: HostCommandSpec): BkeError | undefined {
    const { store, settings } = this.#options;
    const { host } = settings;
    if (store.wasTaken(commandID)) {
      return new BkeError('BKE_COMMAND_REPEATED', `command ${commandID} was carried out before and is not again`, {
        host,
        hint: 'Ask for the operation again: it writes a new command.',
      });
    }
    const highest = store.highestGeneration(this.#realm);
    if (leaseGeneration >= highest) return undefined;
    return new BkeError(
      'BKE_COMMAND_STALE',
      `command ${commandID} is of generation ${leaseGeneration}; this host has seen ${highest}`,
      {
        host,
        hint: 'A controller that is not the leader any more wrote it; the leader writes another one.',
      },
    );
  }

  #refuse(spec: HostCommandSpec, error: BkeError): void {
    const { log, now, reporter } = this.#options;
    log.warn({ command: spec.commandID, error: toErrorReport(error) }, 'command refused');
    reporter.report(refusedCommand(spec, error, now().toISOString()));
  }

  async #take(spec: HostCommandSpec, signal: AbortSignal): Promise<void> {
    const { store, now, reporter } = this.#options;
    const fresh = newCommand(spec, this.#realm);
    const state = spec.cancelRequested === true ? withRestCancelled(fresh, now().toISOString()) : fresh;
    try {
      await store.take(state);
    } catch (thrown) {
      if (!(thrown instanceof BkeError)) throw thrown;
      // A disk that is full: what can't be noted is not begun.
      this.#refuse(spec, thrown);
      return;
    }
    reporter.report(statusOf(state));
    if (!isOver(state)) await this.#execute(state, signal);
  }

  async #execute(state: CommandState, signal: AbortSignal): Promise<void> {
    const { execute, store, reporter } = this.#options;
    const cancel = new AbortController();
    this.#running = { commandID: state.spec.commandID, cancel };
    this.#worked = true;
    const report: ExecuteOptions['report'] = (at, step) =>
      step ? reporter.report(statusOf(at)) : reporter.reportMessage(statusOf(at));
    if (this.#latest !== undefined) this.#see({ type: 'added', object: this.#latest });
    try {
      await executeCommand({ ...execute, store, report }, state, { cancel: cancel.signal, stop: signal });
    } finally {
      this.#running = undefined;
    }
  }
}

/** Whether it stands there that every step of the command is over. */
function isToldOver(object: KubeObject, { commandID, steps }: HostCommandSpec): boolean {
  if (textAt(object, 'status', 'commandID') !== commandID) return false;
  const told = listAt(object, 'status', 'steps');
  const over: readonly (string | undefined)[] = ['Done', 'Failed', 'Cancelled'];
  return steps.length > 0 && steps.length === told.length && told.every((step) => over.includes(textAt(step, 'state')));
}

/** Whether the cluster has it so; results follow from states. */
function isTold(object: KubeObject, current: CommandState): boolean {
  if (textAt(object, 'status', 'commandID') !== current.spec.commandID) return false;
  const told = listAt(object, 'status', 'steps');
  return (
    told.length === current.steps.length &&
    current.steps.every(
      ({ state, attempt }, index) =>
        textAt(told[index], 'state') === state && numberAt(told[index], 'attempt') === attempt,
    )
  );
}
