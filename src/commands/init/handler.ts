// The work of `bke init`: settings, bundle and checks first, then the question, then the phases.
import { hostname } from 'node:os';
import type { Host } from '../../host/host.ts';
import { refuseBusyHost } from '../../host/ledger/ledger.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { type InputReader, readInput } from '../../lib/input.ts';
import type { Platform } from '../../release/platforms.ts';
import type { CommandContext } from '../context.ts';
import { runOnThisHost } from '../host-operation.ts';
import { ownBinary } from '../own-binary.ts';
import { declined } from '../declined.ts';
import { requireRoot } from '../require-root.ts';
import { noteRunning } from '../running.ts';
import { type InitContent, openContent } from './content.ts';
import { parameterLines } from './parameters.ts';
import { type InitWork, initWork, scopeOfPhase } from './phases.ts';
import { makeCluster, readClusterToMake } from './cluster.ts';
import { checkServicesHost, refuseClaimedHost } from './preflight.ts';
import { gatherSettings, type InitSettings } from './settings.ts';
import { summaryLines } from './summary.ts';

export async function runInit(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  requireRoot('bke init');
  const read = readInput(input);
  const cluster = await readClusterToMake(context, read);
  const host = await context.openLocalHost();
  try {
    if (read.flag('dryRun')) await noteRunning(context, host);
    else await refuseBusyHost(host);
    const done = await prepare(context, read, host);
    if (!done || cluster === undefined) return { kind: 'none' };
  } finally {
    await host.close();
  }
  await makeCluster(context, read, cluster);
  return { kind: 'none' };
}

/** @returns whether the host is set up */
async function prepare(context: CommandContext, input: InputReader, host: Host): Promise<boolean> {
  await refuseClaimedHost(host);
  const settings = await gatherSettings(context, input, host);
  const bke = await ownBinary(host, 'bke init');
  const content = await openContent(context, input, {
    host,
    path: settings.bundle,
    platform: ownPlatform(),
    bootstrap: settings.settings.bootstrap,
    bkeVersion: bke.version,
  });
  try {
    const binaryBytes = (await host.files.stat(bke.source))?.size ?? 0;
    const ignored = [...new Set([...input.texts('ignoreCheck'), ...settings.settings.settings.ignoreChecks])];
    const work = initWork({
      ...content,
      host: host.name,
      hostname: hostname(),
      settings: settings.settings,
      ignored,
      bke,
      now: context.now(),
      clock: context.now,
    });
    await checkServicesHost(context, { host, settings, content, binaryBytes, ignored, cluster: work.cluster });
    await work.cluster?.check(host);
    return await apply(context, input, { host, settings, content, work });
  } finally {
    await content.bundle?.close();
  }
}

interface Prepared {
  readonly host: Host;
  readonly settings: InitSettings;
  readonly content: InitContent;
  readonly work: InitWork;
}

async function apply(context: CommandContext, input: InputReader, prepared: Prepared): Promise<boolean> {
  const { host, settings, content } = prepared;
  const { phases, cluster, release } = prepared.work;
  const dryRun = input.flag('dryRun');
  context.note(settings.repeated ? 'bke init, again, with:' : 'bke init with:');
  for (const line of parameterLines({ settings, content, cluster })) context.note(line);
  if (!dryRun && !(await confirmed(context, input))) throw declined();
  const result = await runOnThisHost(context, {
    host,
    action: 'init',
    phases,
    dryRun,
    scopeOf: scopeOfPhase,
    // Told below, after what stands.
    next: () => [],
  });
  if (dryRun) return false;
  for (const line of summaryLines({
    settings: settings.settings,
    cluster,
    release,
    changed: result.changed,
    goesOn: input.text('file') !== undefined,
  }))
    context.note(line);
  return true;
}

function confirmed(context: CommandContext, input: InputReader): Promise<boolean> {
  return context.confirm({
    question: 'Set this host up so?',
    yes: input.flag('yes'),
    option: '--yes',
  });
}

/** Changes are made by the bke on the host itself, so its architecture is this process's. */
function ownPlatform(): Platform {
  return process.arch === 'arm64' ? 'linux/arm64' : 'linux/amd64';
}
