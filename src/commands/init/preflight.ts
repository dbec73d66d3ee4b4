// The checks of `bke init`: everything that would fail later, told at once before anything is changed.
import { type PortName, portNames } from '../../config/bootstrap.ts';
import type { Host } from '../../host/host.ts';
import { plural } from '../../lib/text.ts';
import { loadSizes } from '../../release/bundle/load.ts';
import type { HostNeeds } from '../../tasks/preflight/check.ts';
import { machineOf } from '../../tasks/preflight/machine.ts';
import { readOwnThings } from '../../tasks/preflight/own-things.ts';
import { checks, inspectHost, refuseFindings } from '../../tasks/preflight/run.ts';
import { containerdPaths } from '../../tasks/node/containerd-config.ts';
import { programsDir } from '../../tasks/node/programs.ts';
import type { CommandContext } from '../context.ts';
import type { InitContent } from './content.ts';
import { type InitSettings, neededTools } from './settings.ts';

export interface HostToCheck {
  readonly host: Host;
  readonly settings: InitSettings;
  readonly content: InitContent;
  /** Size of the bke binary. */
  readonly binaryBytes: number;
  readonly ignored: readonly string[];
}

const portUses: Readonly<Record<PortName, string>> = {
  registry: 'image registry',
  registryPush: 'image registry, push',
  files: 'file repository',
  charts: 'chart repository',
  kubernetes: 'bootstrap cluster',
  ui: 'web UI',
};

/** @throws BkeError BKE_PREFLIGHT_FAILED with every problem; warnings are notes. */
export async function checkServicesHost(context: CommandContext, subject: HostToCheck): Promise<void> {
  const { host, ignored } = subject;
  const needs = await needsOf(subject);
  const own = await readOwnThings(host, needs);
  const machine = machineOf(subject.settings.facts, needs, { own, asked: context.now() });
  const findings = inspectHost({ machine, needs }, ignored);
  refuseFindings(findings, host.name);
  for (const { check, message, hint } of findings) {
    context.note(`warning: ${check}: ${message}`);
    if (hint !== undefined) context.note(`  ${hint}`);
  }
  const left = ignored.length === 0 ? '' : `, ${ignored.join(', ')} left out`;
  context.note(
    `${checksLine(checks.length - ignored.length, new Set(findings.map(({ check }) => check)).size)}${left}.`,
  );
}

function checksLine(all: number, warned: number): string {
  if (warned === 0) return `${plural(all, 'check')} passed`;
  return `${plural(all, 'check')}: ${all - warned} passed, ${plural(warned, 'warning')}`;
}

async function needsOf({ settings: { settings }, content, binaryBytes }: HostToCheck): Promise<HostNeeds> {
  const ports = portNames.map((name) => ({ port: settings.ports[name], use: portUses[name] }));
  return {
    ports,
    space: await spaceOf(settings.dataDir, content, binaryBytes),
    tools: neededTools,
    reachable: [settings.dataDir],
    runtime: true,
  };
}

/** What is there already needs no room; a first load needs files and images, their programs unpacked, and one image in containerd. */
async function spaceOf(
  dataDir: string,
  { bundle, loaded }: InitContent,
  binaryBytes: number,
): Promise<HostNeeds['space']> {
  const programs = { path: programsDir, bytes: binaryBytes + 512 * 1024 * 1024, use: 'the programs' };
  const runtime = { path: containerdPaths.root, bytes: 64 * 1024 * 1024, use: 'containerd' };
  if (bundle === undefined || loaded) return [];
  const { registry, files } = await loadSizes(bundle);
  return [{ path: dataDir, bytes: registry + files, use: 'the bundle' }, programs, runtime];
}
