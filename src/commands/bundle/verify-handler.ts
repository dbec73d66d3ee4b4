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
    found: 'whole',
  });
  const { name, version, platforms, kubernetesVersions } = bundle.description;
  const { blobs, bytes } = report;
  const value = { name, version, platforms, kubernetesVersions, signature: bundle.signature, blobs, bytes };
  return { kind: 'object', value, text: textOf(bundle, report) };
}

/** @throws BkeError BKE_BUNDLE_INVALID with a detail per fault. */
function requireSound(path: string, report: VerifyReport): VerifyReport {
  if (report.faults.length === 0) return report;
  throw new BkeError('BKE_BUNDLE_INVALID', `${path} has ${plural(report.faults.length, 'fault')}`, {
    details: report.faults.map(({ item, message }) => `${item}: ${message}`),
    hint: 'Get the bundle again from where it was built, or build it again.',
  });
}

function textOf({ description, signature }: Bundle, { blobs, bytes }: VerifyReport): string {
  const signed =
    signature.state === 'trusted'
      ? `signed by ${signature.key}`
      : signature.state === 'unsigned'
        ? 'not signed'
        : `signed by ${signature.keys.join(', ')}, which is not trusted here`;
  return `${description.name} ${description.version} is whole: ${plural(blobs, 'blob')}, ${formatBytes(bytes)}; ${signed}\n`;
}
