// The work of `bke reset`: look and plan first, then the question, then the steps under the lock of the host.
import type { Host } from '../../host/host.ts';
import { defaultStateDir, refuseBusyHost } from '../../host/ledger/ledger.ts';
import { kindOf } from '../../host/changes/kinds.ts';
import { isBuiltBinary } from '../../lib/assets.ts';
import { BkeError } from '../../lib/errors.ts';
import { sameCommand } from '../../lib/same-command.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import { listed, plural } from '../../lib/text.ts';
import { newOperationId } from '../../operations/journal.ts';
import { runLocalOperation, throwUnlessDone } from '../../operations/local-operation.ts';
import type { StepBinding } from '../../operations/operation.ts';
import { createTaskScope } from '../../operations/task-scope.ts';
import { busyAgent, resumeAgent, stopAgent } from '../../tasks/reset/busy-agent.ts';
import { doneLine, standingNames } from '../../tasks/reset/end-text.ts';
import { throwIfMore } from '../../tasks/reset/compare-plans.ts';
import { keptLines, plannedItems, planLines } from '../../tasks/reset/plan-text.ts';
import { prepareReset, resetPhases, throwIfRefused } from '../../tasks/reset/reset.ts';
import { throwIncomplete } from '../../tasks/reset/second-look.ts';
import type { KeptItem, ResetFlags, ResetPlan } from '../../tasks/reset/reset-plan.ts';
import { type ResetRun, resetRun, type ResetScope } from '../../tasks/reset/reset-scope.ts';
import { standingScopes } from '../../tasks/reset/standing.ts';
import type { CommandContext } from '../context.ts';
import { noteOtherMachine, openLedgerFor } from '../host-operation.ts';
import { declined } from '../declined.ts';
import { requireRoot } from '../require-root.ts';
import { noteRunning } from '../running.ts';
import { managedNotes, siteClusters } from '../site-clusters.ts';

export async function runReset(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const flags: ResetFlags = {
    all: read.flag('all'),
    mount: read.flag('mount'),
    purgeVolumes: read.flag('purgeVolumes'),
  };
  requireRoot('bke reset');
  const host = await context.openLocalHost();
  try {
    if (read.flag('dryRun')) {
      await noteRunning(context, host);
      await showPlan(context, host, await planFor(context, host, flags));
    } else await withAgentAside(context, host, { flags, yes: read.flag('yes') });
    return { kind: 'none' };
  } finally {
    await host.close();
  }
}

async function planFor(context: CommandContext, host: Host, flags: ResetFlags): Promise<ResetPlan> {
  const plan = await prepareReset(host, flags, process.pid);
  noteOtherMachine(context, host, plan);
  noteDamage(context, host, plan);
  throwIfRefused(host, plan);
  if (plan.items.length === 0) return plan;
  return { ...plan, notes: [...plan.notes, ...managedNotes(await siteClusters(context))] };
}

interface Asked {
  readonly flags: ResetFlags;
  readonly yes: boolean;
}

/** An agent at work is stopped before the plan is made, for it changes what the plan is about; where the reset does not begin it goes on. */
async function withAgentAside(context: CommandContext, host: Host, asked: Asked): Promise<void> {
  const stopped = await stopBusyAgent(context, host, asked);
  if (!stopped) await refuseBusyHost(host);
  let begun = false;
  try {
    await ask(context, host, { ...asked, onBegin: () => (begun = true) });
  } finally {
    if (stopped && !begun) await resumeAgent(host);
  }
}

/** @returns whether there was one. @throws BkeError BKE_LOCKED where it is at work and is to stay */
async function stopBusyAgent(context: CommandContext, host: Host, { flags, yes }: Asked): Promise<boolean> {
  const owner = await busyAgent(host);
  if (owner === undefined) return false;
  const doing = `the agent of this host is at work for its cluster (pid ${owner.pid}, since ${owner.since})`;
  if (!flags.all) {
    throw new BkeError('BKE_LOCKED', doing, {
      host: host.name,
      hint: `Wait until it has ended (journalctl -fu bke-agent), or take the agent away as well: '${sameCommand(context.argv, '--all')}' stops it first.`,
    });
  }
  context.note(`Note: ${doing}; it is stopped first, within a minute.`);
  if (!(await context.confirm({ question: 'Stop it, to see what is to be taken away?', yes, option: '--yes' })))
    throw declined();
  await stopAgent(host);
  return true;
}

async function ask(
  context: CommandContext,
  host: Host,
  { flags, yes, onBegin }: Asked & { readonly onBegin: () => void },
): Promise<void> {
  const plan = await planFor(context, host, flags);
  if (plan.items.length === 0) await tellClean(context, host, plan);
  else if (!(await confirmed(context, host, { plan, yes }))) throw declined();
  else await carryOut(context, host, { flags, plan, onBegin });
}

/** @throws BkeError BKE_RESET_INCOMPLETE where what is left would harm others. */
async function tellClean(context: CommandContext, host: Host, plan: ResetPlan): Promise<void> {
  throwIncomplete(host, plan.heldBack);
  const stays = standingNames(plan.standing);
  context.note(
    stays.length === 0
      ? 'Nothing to do: neither bke nor Kubernetes left anything here.'
      : `Nothing to do: Kubernetes is off this host. Still here: ${listed(stays)}.`,
  );
  await tellKept(context, host, plan.kept);
}

function noteDamage(context: CommandContext, host: Host, { damaged }: ResetPlan): void {
  const [first] = damaged;
  if (first === undefined) return;
  const where = `line ${first.line}: ${first.why}`;
  context.note(
    `Warning: the record of changes on ${host.name} is damaged (${where}). What it does not tell any more is looked for by names and marks.`,
  );
}

/** What stays, and what was kept for the user by this reset or by one before. */
async function tellKept(context: CommandContext, host: Host, kept: readonly KeptItem[]): Promise<void> {
  for (const line of keptLines(kept)) context.note(line);
  const folder = `${defaultStateDir}-kept`;
  if ((await host.files.stat(folder))?.type !== 'directory') return;
  let files = 0;
  for await (const entry of host.files.walk(folder)) if (entry.type !== 'directory') files += 1;
  if (files > 0) context.note(`Kept for you: ${folder} (${plural(files, 'file')})`);
}

function confirmed(
  context: CommandContext,
  host: Host,
  { plan, yes }: { plan: ResetPlan; yes: boolean },
): Promise<boolean> {
  for (const line of planLines(host.name, plan)) context.note(line);
  return context.confirm({ question: 'Take all this away?', yes, option: '--yes' });
}

/** A dry run is an operation of planned events, as every other command's is. */
async function showPlan(context: CommandContext, host: Host, plan: ResetPlan): Promise<void> {
  for (const note of plan.notes) context.note(note);
  const run = async (binding: StepBinding): Promise<void> => {
    for (const item of plannedItems(plan)) {
      binding.emit({ type: 'step.planned', ...item });
      binding.changed();
    }
    for (const { what, why } of plan.kept)
      binding.emit({ type: 'step.planned', action: 'keep', what: `${what} (${why})` });
  };
  const step = { name: 'reset/plan', title: 'Plan', timeoutMs: 60_000, run };
  const result = await runLocalOperation(context, {
    action: 'reset',
    target: 'this host',
    phases: [{ id: 'reset', title: 'Reset', chains: [{ host: host.name, steps: [step] }] }],
    dryRun: true,
    createScope: (binding) => binding,
  });
  throwUnlessDone(result);
}

interface Confirmed {
  readonly flags: ResetFlags;
  readonly plan: ResetPlan;
  readonly onBegin: () => void;
}

/** Planned again under the lock: what came meanwhile is seen, and what nobody said yes to is not done. */
async function carryOut(context: CommandContext, host: Host, confirmed: Confirmed): Promise<void> {
  const { flags } = confirmed;
  const id = newOperationId('reset', context.now());
  const ledger = await openLedgerFor(context, host, { operation: id, command: 'bke reset' });
  try {
    const plan = await prepareReset(host, flags, process.pid);
    throwIfRefused(host, plan);
    throwIfMore(host, confirmed.plan, plan);
    const run = resetRun({ host, ledger, flags }, plan);
    confirmed.onBegin();
    // Its journal lies in a folder that its last step removes, so that of a reset that ended any earlier it is still there.
    const result = await runLocalOperation(context, {
      id,
      action: 'reset',
      target: 'this host',
      phases: resetPhases(host.name),
      dryRun: false,
      createScope: scopes(context, run),
    });
    if (result.outcome === 'done') {
      const standing = await standingScopes(host, ledger, flags);
      context.note(doneLine(standing, await ownProgram(host)));
    }
    await tellKept(context, host, run.kept);
    throwUnlessDone(result);
  } finally {
    await ledger.close();
  }
}

/** The program that runs now, where it is one of its own and still lies there. */
async function ownProgram(host: Host): Promise<string | undefined> {
  if (!(await isBuiltBinary())) return 'that you started';
  return (await host.files.stat(process.execPath)) === undefined ? undefined : process.execPath;
}

function scopes(context: CommandContext, run: ResetRun): (binding: StepBinding) => ResetScope {
  const { host, ledger } = run;
  const describe = (change: Parameters<typeof kindOf>[0]): string => kindOf(change).describe(change);
  return (binding) => ({
    ...createTaskScope({ host, scope: 'node', now: context.now, describe, dryRun: false, ledger }, binding),
    run,
  });
}
