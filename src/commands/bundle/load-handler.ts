// The work of `bke bundle load`.
import { resolve } from 'node:path';
import { formatBytes } from '../../lib/bytes.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { BkeError } from '../../lib/errors.ts';
import { type InputReader, readInput } from '../../lib/input.ts';
import { loadBundle, type LoadCount, type LoadReport } from '../../release/bundle/load.ts';
import { openBundle } from '../../release/bundle/open.ts';
import { createRegistryClient, type RegistryClient } from '../../release/oci/registry-client.ts';
import { openFileRepository } from '../../release/repository/store.ts';
import type { CommandContext } from '../context.ts';
import { openOptions, readCertificates, readPassword } from './inputs.ts';
import { runBundleWork } from './operation.ts';

export async function runLoad(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const files = read.text('files');
  if (files === undefined && read.text('registry') === undefined) {
    throw new BkeError('BKE_USAGE', 'say where to load to: --registry HOST:PORT, --files DIR, or both');
  }
  const path = read.requiredText('file');
  await using bundle = await openBundle(resolve(context.cwd, path), await openOptions(context, read));
  const registry = await openRegistry(context, read);
  try {
    await registry?.ping();
    const repository = files === undefined ? undefined : await openFileRepository(resolve(context.cwd, files));
    const targets = {
      ...(registry === undefined ? {} : { registry }),
      ...(repository === undefined ? {} : { files: repository }),
    };
    const report = await runBundleWork(context, {
      action: 'bundle.load',
      target: path,
      title: `Load ${path}`,
      unit: 'bytes',
      run: (tools) => loadBundle(bundle, targets, { ...tools, force: read.flag('force') }),
      changed: ({ changed }) => changed,
    });
    return { kind: 'object', value: report, text: textOf(report) };
  } finally {
    registry?.close();
  }
}

async function openRegistry(context: CommandContext, read: InputReader): Promise<RegistryClient | undefined> {
  const address = read.text('registry');
  if (address === undefined) return undefined;
  const ca = read.text('registryCa');
  const username = read.text('username');
  const passwordFile = read.text('passwordFile');
  if ((username === undefined) !== (passwordFile === undefined)) {
    throw new BkeError('BKE_USAGE', '--username and --password-file belong together');
  }
  return createRegistryClient({
    url: /^[a-z]+:\/\//i.test(address) ? address : `https://${address}`,
    ...(ca === undefined ? {} : { ca: await readCertificates(context, [ca]) }),
    ...(username === undefined ? {} : { username }),
    ...(passwordFile === undefined ? {} : { password: await readPassword(context, passwordFile) }),
  });
}

function textOf({ files, charts, images, bytes }: LoadReport): string {
  return [
    `files:   ${words(files)}`,
    `charts:  ${words(charts)}`,
    `images:  ${words(images)}`,
    `written: ${formatBytes(bytes)}`,
    '',
  ].join('\n');
}

function words({ loaded, present }: LoadCount): string {
  return `${loaded} loaded, ${present} there already`;
}
