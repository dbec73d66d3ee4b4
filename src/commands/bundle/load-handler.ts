// The work of `bke bundle load`.
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemDirectoryProblem } from '../../config/directories.ts';
import { formatBytes } from '../../lib/bytes.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { isErrno } from '../../lib/errno.ts';
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
    throw new BkeError('BKE_USAGE', '--registry HOST:PORT or --files DIR is missing: where to load to', {
      hint: "Give one of them, or both; 'bke help bundle load' has examples. On a host that bke init has set up, run bke init --bundle.",
    });
  }
  const directory = files === undefined ? undefined : await filesDirectory(context, files);
  const path = read.requiredText('file');
  const options = await openOptions(context, read);
  const registry = await openRegistry(context, read);
  try {
    await using bundle = await openBundle(resolve(context.cwd, path), options);
    await registry?.ping();
    const repository = directory === undefined ? undefined : await openFileRepository(directory);
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

/** Also through links: what it leads to is what would be filled. @throws BkeError BKE_CONFIG_INVALID for directories of the system. */
async function filesDirectory(context: CommandContext, files: string): Promise<string> {
  const path = resolve(context.cwd, files);
  const real = await realpath(path).catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR', 'EACCES')) return path;
    throw thrown;
  });
  const problem = systemDirectoryProblem(path) ?? systemDirectoryProblem(real);
  if (problem === undefined) return path;
  throw new BkeError('BKE_CONFIG_INVALID', `--files: ${problem}`, {
    hint: 'Name a directory for this data alone, such as /srv/bke. Nothing was done.',
  });
}

async function openRegistry(context: CommandContext, read: InputReader): Promise<RegistryClient | undefined> {
  const address = read.text('registry');
  if (address === undefined) return undefined;
  const ca = read.text('registryCa');
  const username = read.text('username');
  const passwordFile = read.text('passwordFile');
  if ((username === undefined) !== (passwordFile === undefined)) {
    throw new BkeError('BKE_USAGE', '--username and --password-file belong together', {
      hint: 'Give both, or neither.',
    });
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
