// The work of `bke bundle inspect`.
import { resolve } from 'node:path';
import { formatBytes } from '../../lib/bytes.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import { padEnd, textWidth } from '../../lib/text.ts';
import { type BundleSummary, summarise } from '../../release/bundle/inspect.ts';
import { type Bundle, openBundle } from '../../release/bundle/open.ts';
import { readTrustKey } from '../../release/trust.ts';
import { contentOf } from '../../tasks/services/content.ts';
import { type ContentRecord, readContent } from '../../tasks/services/records.ts';
import type { CommandContext } from '../context.ts';

export async function runInspect(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const trustKeys = await Promise.all(
    read.texts('trustKey').map((path) => readTrustKey(resolve(context.cwd, path), path)),
  );
  await using bundle = await openBundle(resolve(context.cwd, read.requiredText('file')), {
    trustKeys,
    allowUnsigned: true,
  });
  const summary = await summarise(bundle);
  return { kind: 'object', value: summary, text: textOf(summary, await signatureWords(context, bundle)) };
}

/** Without its key a signature proves nothing, but what bke init loaded on this host it proved then. */
async function signatureWords(context: CommandContext, { description, signature }: Bundle): Promise<string> {
  if (signature.state === 'trusted') return `trusted ${signature.key}`;
  if (signature.state === 'unsigned') return 'unsigned';
  const { bundle } = contentOf({ description, signature });
  const loaded = await loadedHere(context);
  const proved = loaded?.signature === 'trusted' && loaded.digest === bundle.digest;
  const why = proved
    ? 'trusted by the bke init that loaded it here'
    : 'untrusted: no key to prove it by; name the public key with --trust-key FILE';
  return `${why} (signed by ${signature.keys.join(', ')})`;
}

/** undefined as well where this host has no record that can be read: a bundle is looked at anywhere. */
async function loadedHere(context: CommandContext): Promise<ContentRecord['bundle'] | undefined> {
  const host = await context.openLocalHost();
  try {
    return (await readContent(host))?.bundle;
  } catch {
    return undefined;
  } finally {
    await host.close();
  }
}

function textOf(summary: BundleSummary, signature: string): string {
  const head = [
    ['Bundle', `${summary.name} ${summary.version}`],
    ['Built by', `bke ${summary.bke}`],
    ['Platforms', summary.platforms.join(', ')],
    ['Kubernetes', summary.kubernetesVersions.join(', ') || 'none'],
    ['Signature', signature],
    ['Size', formatBytes(summary.size)],
  ];
  const rows = [
    ['KIND', 'NAME', 'VERSION', 'PLATFORMS', 'SIZE'],
    ...summary.entries.map(({ kind, name, version, platforms, size }) => [
      kind,
      name,
      version,
      platforms.join(',') || 'all',
      formatBytes(size),
    ]),
  ];
  return `${aligned(head.map(([key = '', value = '']) => [`${key}:`, value]))}\n${aligned(rows)}`;
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, i) => Math.max(most[i] ?? 0, textWidth(cell))),
    [],
  );
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => padEnd(cell, widths[i] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}
