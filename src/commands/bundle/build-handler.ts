// The work of `bke bundle build`.
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { hexOf } from '../../lib/digest.ts';
import { type InputReader, readInput } from '../../lib/input.ts';
import { buildBundle, type BuildOptions } from '../../release/bundle/build.ts';
import { loadManifest } from '../../release/load-manifest.ts';
import { readSigningKey } from '../../release/trust.ts';
import type { CommandContext } from '../context.ts';
import { runBundleWork } from './operation.ts';
import { platformsOf, readCertificates } from './inputs.ts';

/** stdout gets one line in the form of sha256sum, for `sha256sum -c` at the other end. */
export async function runBuild(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const output = read.requiredText('output');
  const options = await buildOptions(context, read);
  const trust = options.signKey === undefined ? '--allow-unsigned' : '--trust-key PUBLIC_KEY';
  const built = await runBundleWork(context, {
    action: 'bundle.build',
    target: output,
    title: `Build ${output}`,
    unit: (progress) => ('phase' in progress && progress.phase === 'resolve' ? 'items' : 'bytes'),
    run: (tools) => buildBundle({ ...options, ...tools }),
    changed: () => true,
    next: [`bke bundle verify ${output} ${trust}`, `bke init --bundle ${output} ${trust}`],
  });
  return { kind: 'text', text: `${hexOf(built.digest)}  ${output}\n` };
}

async function buildOptions(
  context: CommandContext,
  read: InputReader,
): Promise<Omit<BuildOptions, 'signal' | 'onProgress'>> {
  const file = read.requiredText('file');
  const manifest = await loadManifest(resolve(context.cwd, file), file);
  const signKey = read.text('signKey');
  const caFiles = read.texts('ca');
  const ca = await readCertificates(context, caFiles);
  const inputs = [
    { path: file, what: 'the release manifest' },
    ...(signKey === undefined ? [] : [{ path: signKey, what: 'the signing key' }]),
    ...caFiles.map((path) => ({ path, what: 'a CA certificate' })),
  ];
  return {
    manifest,
    folder: dirname(resolve(context.cwd, file)),
    output: resolve(context.cwd, read.requiredText('output')),
    inputs: inputs.map(({ path, what }) => ({ path: resolve(context.cwd, path), what })),
    platforms: platformsOf(read),
    cacheDir: cacheDir(context, read),
    proxyEnv: context.env,
    ...(signKey === undefined ? {} : { signKey: await readSigningKey(resolve(context.cwd, signKey), signKey) }),
    ...(ca.length === 0 ? {} : { ca }),
  };
}

function cacheDir(context: CommandContext, read: InputReader): string {
  const given = read.text('cacheDir');
  if (given !== undefined) return resolve(context.cwd, given);
  return join(context.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'bke', 'blobs');
}
