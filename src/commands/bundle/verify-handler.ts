// The work of `bke bundle verify`.
import { resolve } from 'node:path';
import { formatBytes } from '../../lib/bytes.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { BkeError } from '../../lib/errors.ts';
import { readInput } from '../../lib/input.ts';
import { plural } from '../../lib/text.ts';
import { type Bundle, openBundle } from '../../release/bundle/open.ts';
import { verifyBundle, type VerifyReport } from '../../release/bundle/verify.ts';
import type { CommandContext } from '../context.ts';
import { openOptions } from './inputs.ts';
import { runBundleWork } from './operation.ts';

export async function runVerify(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const path = read.requiredText('file');
  await using bundle = await openBundle(resolve(context.cwd, path), await openOptions(context, read));
  const report = await runBundleWork(context, {
    action: 'bundle.verify',
    target: path,
    title: `Verify ${path}`,
    unit: 'bytes',
    run: async (tools) => requireSound(path, await verifyBundle(bundle, tools)),
    changed: () => false,
  });
  return { kind: 'object', value: summaryOf(bundle, report) };
}

/** @throws BkeError BKE_BUNDLE_INVALID with a detail per fault. */
function requireSound(path: string, report: VerifyReport): VerifyReport {
  if (report.faults.length === 0) return report;
  throw new BkeError('BKE_BUNDLE_INVALID', `${path} has ${plural(report.faults.length, 'fault')}`, {
    details: report.faults.map(({ item, message }) => `${item}: ${message}`),
    hint: 'Get the bundle again from where it was built, or build it again.',
  });
}

function summaryOf({ description, signature }: Bundle, { blobs, bytes }: VerifyReport): object {
  return {
    bundle: `${description.name} ${description.version}`,
    platforms: description.platforms,
    kubernetesVersions: description.kubernetesVersions,
    signature: signature.state === 'trusted' ? `trusted ${signature.key}` : signature.state,
    verified: `${plural(blobs, 'blob')}, ${formatBytes(bytes)}`,
  };
}
