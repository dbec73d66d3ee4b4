// Runs a command's steps in order: each state is on the disk before it is acted on and told after, so that whatever dies, the next run goes on from there.
import type { AgentSettings } from '../api/agent-config.ts';
import type { OperationEvent } from '../api/events.ts';
import type { HostCommandStep } from '../api/kinds/host-command.ts';
import { errorFields, type Log } from '../lib/log.ts';
import { kindOf } from '../host/changes/kinds.ts';
import type { Host } from '../host/host.ts';
import { type Ledger, openLedger } from '../host/ledger/ledger.ts';
import { formatBytes } from '../lib/bytes.ts';
import { BkeError, toErrorReport } from '../lib/errors.ts';
import { newOperationId } from '../operations/journal.ts';
import { type OperationEnvironment, runLocalOperation } from '../operations/local-operation.ts';
import type { Step, StepBinding } from '../operations/operation.ts';
import { createTaskScope } from '../operations/task-scope.ts';
import { waitUntil } from '../operations/wait.ts';
import { agentCommand } from '../tasks/agent/paths.ts';
import { prepareStep } from '../tasks/registry.ts';
import type { PreparedStep, StepContext, StepResult } from '../tasks/steps/step.ts';
import {
  boundedResult,
  type CommandState,
  ended,
  errorReport,
  isOver,
  isTerminal,
  withRestCancelled,
  withStep,
} from './command-state.ts';
import type { CommandStore } from './command-store.ts';

export interface ExecuteOptions {
  readonly host: Host;
  readonly settings: AgentSettings;
  readonly store: CommandStore;
  readonly log: Log;
  readonly now: () => Date;
  /** Journals; undefined: none. */
  readonly operationsDirectory: string | undefined;
  readonly artifactsDir: string;
  readonly readInbox: StepContext['readInbox'];
  /** @param step false: only a message is new. */
  readonly report: (state: CommandState, step: boolean) => void;
}

export interface Signals {
  /** The cluster wants the command ended. */
  readonly cancel: AbortSignal;
  /** This process is to end: what is begun goes on in the next one. */
  readonly stop: AbortSignal;
}

/** A step that ends the agent each time must end some time. */
const mostAttempts = 20;
const lockMs = 10 * 60_000;

/** Until every step is over, or this process is to end. @param state taken by the store */
export function executeCommand(options: ExecuteOptions, state: CommandState, signals: Signals): Promise<void> {
  return new Execution(options, state, signals).run();
}

class Execution {
  readonly #options: ExecuteOptions;
  readonly #signals: Signals;
  readonly #results = new Map<string, StepResult>();
  #state: CommandState;
  /** Everything before is on the disk and told. */
  #saved: Promise<void> = Promise.resolve();

  constructor(options: ExecuteOptions, state: CommandState, signals: Signals) {
    this.#options = options;
    this.#state = state;
    this.#signals = signals;
  }

  async run(): Promise<void> {
    const { commandID } = this.#state.spec;
    const log = this.#options.log.child({ command: commandID });
    if (this.#mayGoOn()) {
      const steps = await this.#prepare();
      if (steps !== undefined) {
        log.info({ steps: steps.map(({ name }) => name) }, 'command begins');
        await this.#carryOut(steps, log);
      }
    }
    const leftForLater = this.#signals.stop.aborted && !this.#signals.cancel.aborted;
    if (!leftForLater && !isOver(this.#state)) this.#set(withRestCancelled(this.#state, this.#time()));
    await this.#saved;
    log.info(
      { steps: this.#state.steps.map(({ id, state }) => `${id}: ${state}`) },
      leftForLater ? 'command waits' : 'command ended',
    );
  }

  /** A failure that was written down just before this process came to be ends the command, too. */
  #mayGoOn(): boolean {
    return !this.#state.steps.some(({ state }) => state === 'Failed' || state === 'Cancelled');
  }

  /** Every step is understood before the first one runs. undefined: one is not, which has been said. */
  async #prepare(): Promise<Step<StepBinding>[] | undefined> {
    const steps: Step<StepBinding>[] = [];
    for (const { id, task, parameters } of this.#state.spec.steps) {
      const step = this.#stepState(id);
      if (isTerminal(step)) continue;
      try {
        if (step.attempt >= mostAttempts) throw interrupted(step);
        steps.push(this.#step(id, await prepareStep(task, parameters)));
      } catch (thrown) {
        this.#end(id, { state: 'Failed', finished: this.#time(), error: errorReport(toErrorReport(thrown)) });
        return undefined;
      }
    }
    return steps;
  }

  async #carryOut(steps: readonly Step<StepBinding>[], log: Log): Promise<void> {
    const { now, operationsDirectory, settings } = this.#options;
    const { cancel, stop } = this.#signals;
    const id = newOperationId('host.command', now());
    const environment: OperationEnvironment = {
      now,
      operationsDirectory,
      signal: AbortSignal.any([cancel, stop]),
      events: (event) => this.#take(event),
    };
    const { errors } = await runLocalOperation(environment, {
      id,
      action: 'host.command',
      target: `command ${this.#state.spec.commandID}`,
      phases: [{ id: 'command', title: 'Steps of the command', chains: [{ host: settings.host, steps }] }],
      dryRun: false,
      createScope: (binding) => binding,
    });
    for (const error of errors) log.error(errorFields(error), 'a step failed');
  }

  #step(id: string, prepared: PreparedStep): Step<StepBinding> {
    return {
      name: id,
      title: prepared.title,
      timeoutMs: prepared.timeoutMs,
      run: async (binding) => {
        const { error: _, ...before } = this.#stepState(id);
        this.#set(
          withStep(this.#state, id, {
            ...before,
            state: 'Running',
            attempt: before.attempt + 1,
            started: this.#time(),
          }),
        );
        await this.#saved;
        const result = await this.#perform(prepared, binding);
        if (result !== undefined) this.#results.set(id, result);
      },
    };
  }

  async #perform(prepared: PreparedStep, binding: StepBinding): Promise<StepResult | void> {
    if (!prepared.changes) return prepared.run(this.#context(binding, undefined));
    const ledger = await this.#lock(binding);
    try {
      const result = await prepared.run(this.#context(binding, ledger));
      await ledger.finish();
      return result;
    } finally {
      await ledger.close();
    }
  }

  /** A person may be at work on the host: that is waited for. */
  async #lock(binding: StepBinding): Promise<Ledger> {
    const { host, now, log } = this.#options;
    let ledger: Ledger | undefined;
    await waitUntil(binding, now, {
      for: 'the lock of the host',
      timeoutMs: lockMs,
      probe: async (over) => {
        try {
          const opened = await openLedger(host, {
            operation: this.#state.spec.commandID,
            command: agentCommand,
            signal: binding.signal,
            tell: (message) => log.info({}, message),
          });
          // This process lives on: a claim that nobody holds would lock it out of its own host.
          if (over.aborted) await opened.close();
          else ledger = opened;
          return { ready: true };
        } catch (thrown) {
          if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_LOCKED') throw thrown;
          return { ready: false, cause: thrown.message };
        }
      },
    });
    if (ledger === undefined) throw new Error('a wait that ended well has the lock');
    return ledger;
  }

  #context(binding: StepBinding, ledger: Ledger | undefined): StepContext {
    const { host, now, settings, artifactsDir, readInbox } = this.#options;
    const refusing = {
      apply: async (): Promise<never> => {
        throw new Error('a step that changes nothing has no ledger');
      },
    };
    const scope = createTaskScope(
      {
        host,
        scope: 'node',
        now,
        describe: (change) => kindOf(change).describe(change),
        dryRun: false,
        ledger: ledger ?? refusing,
      },
      binding,
    );
    return { scope, ledger, settings, artifactsDir, readInbox };
  }

  #take(event: OperationEvent): void {
    if (event.type === 'step.finished') {
      const result = boundedResult(this.#state, this.#results.get(event.step));
      this.#end(event.step, { state: 'Done', finished: event.time, ...(result === undefined ? {} : { result }) });
    } else if (event.type === 'step.failed') {
      const { cancel, stop } = this.#signals;
      const stopped = event.error.code === 'BKE_CANCELLED';
      if (stopped && stop.aborted && !cancel.aborted) return;
      const state = stopped && cancel.aborted ? 'Cancelled' : 'Failed';
      this.#end(event.step, { state, finished: event.time, error: errorReport(event.error) });
    } else {
      const message = messageOf(event);
      if (message === undefined) return;
      this.#state = withStep(this.#state, message.step, { message: message.text.slice(0, 1024) });
      this.#options.report(this.#state, false);
    }
  }

  #end(id: string, end: Parameters<typeof ended>[2]): void {
    this.#set(ended(this.#state, id, end));
  }

  #set(state: CommandState): void {
    this.#state = state;
    this.#saved = this.#save(state, this.#saved);
    // Whoever waits for it sees the fault; nobody may wait.
    this.#saved.catch(() => undefined);
  }

  /** A disk that is full keeps nothing from being told. */
  async #save(state: CommandState, before: Promise<void>): Promise<void> {
    await before.catch(() => undefined);
    try {
      await this.#options.store.save(state);
    } finally {
      this.#options.report(state, true);
    }
  }

  #stepState(id: string): HostCommandStep {
    const step = this.#state.steps.find((candidate) => candidate.id === id);
    if (step === undefined) throw new Error(`step ${id} has no state`);
    return step;
  }

  #time(): string {
    return this.#options.now().toISOString();
  }
}

function messageOf(event: OperationEvent): { readonly step: string; readonly text: string } | undefined {
  if (event.type === 'step.waiting') return { step: event.step, text: `waits for ${event.for}: ${event.cause}` };
  if (event.type !== 'step.progress' || event.message === undefined) return undefined;
  const { step, message, done, total, unit } = event;
  if (done === undefined) return { step, text: message };
  const count = (value: number): string => (unit === 'bytes' ? formatBytes(value) : String(value));
  return { step, text: `${message} (${count(done)}${total === undefined ? '' : ` of ${count(total)}`})` };
}

function interrupted({ attempt }: HostCommandStep): BkeError {
  return new BkeError('BKE_STEP_INTERRUPTED', `the agent ended ${attempt} times while it ran this step`, {
    hint: "Look on the host with 'journalctl -u bke-agent' at what ended it.",
  });
}
