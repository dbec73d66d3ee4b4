// What is inside a chart's .tgz: name, version and the rest of Chart.yaml, read from the whole archive so that a half-written one is noticed.
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import semver from 'semver';
import { extract } from 'tar-stream';
import { parse } from 'yaml';
import { z } from 'zod';
import { BkeError } from '../../lib/errors.ts';

const text = z.string('must be text');
const dependency = z.object({
  name: text,
  version: text.optional(),
  repository: text.optional(),
  condition: text.optional(),
  tags: z.array(text).optional(),
  alias: text.optional(),
});

/** The fields that Helm keeps in an index, in its types: one value of another type would make Helm refuse the whole index. */
const chartMetadata = z.object({
  apiVersion: text.optional(),
  name: text.regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/, 'is no chart name'),
  version: text.refine(isChartVersion, 'is no semantic version'),
  appVersion: text.optional(),
  kubeVersion: text.optional(),
  type: text.optional(),
  description: text.optional(),
  home: text.optional(),
  icon: text.optional(),
  deprecated: z.boolean().optional(),
  condition: text.optional(),
  tags: text.optional(),
  keywords: z.array(text).optional(),
  sources: z.array(text).optional(),
  maintainers: z.array(z.object({ name: text.optional(), email: text.optional(), url: text.optional() })).optional(),
  dependencies: z.array(dependency).optional(),
  annotations: z.record(text, text).optional(),
});
type ChartMetadata = z.infer<typeof chartMetadata>;

export interface ChartArchive {
  readonly metadata: ChartMetadata;
  /** When Chart.yaml was packed: belongs to the content, unlike the time of a file on disk. */
  readonly created: Date;
}

/** Helm takes 1, 1.2 and v1.2.3 too, but no leading zeros. */
export function isChartVersion(version: string): boolean {
  return normalVersion(version) !== undefined;
}

/** With all three numbers, for comparing. */
export function normalVersion(version: string): string | undefined {
  const [, numbers = '', rest = ''] = /^v?([0-9.]+)(.*)$/s.exec(version) ?? [];
  const parts = numbers.split('.');
  if (numbers === '' || parts.length > 3) return undefined;
  const full = [...parts, '0', '0'].slice(0, 3).join('.') + rest;
  return semver.valid(full) === null ? undefined : full;
}

const unpackedLimit = 512 * 1024 * 1024;
const chartFileLimit = 1024 * 1024;

/** @param file name for messages. @throws BkeError BKE_CHART_INVALID */
export async function readChart(source: Readable, file: string): Promise<ChartArchive> {
  const found = await findChartFile(source).catch((cause: unknown) => {
    throw new BkeError('BKE_CHART_INVALID', `${file} is no whole chart archive: ${reasonOf(cause)}`, { cause });
  });
  if (found === undefined) throw new BkeError('BKE_CHART_INVALID', `${file} has no <chart>/Chart.yaml`);
  const parsed = chartMetadata.safeParse(yamlOf(found.content, file));
  if (parsed.success) return { metadata: parsed.data, created: found.modified };
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new BkeError('BKE_CHART_INVALID', `${file}: its Chart.yaml is not valid: ${faults.join('; ')}`);
}

interface ChartFile {
  readonly content: string;
  readonly modified: Date;
}

async function findChartFile(source: Readable): Promise<ChartFile | undefined> {
  let found: ChartFile | undefined;
  let unpacked = 0;
  const members = extract();
  members.on('entry', (header, stream, next) => {
    const small = (header.size ?? 0) <= chartFileLimit;
    const wanted = small && found === undefined && /^(?:\.\/)?[^/]+\/Chart\.yaml$/.test(header.name);
    const chunks: Buffer[] = [];
    // Whatever is not wanted is read to its end too: only so a cut-off archive is noticed.
    stream.on('data', (chunk) => {
      if (!Buffer.isBuffer(chunk)) return;
      unpacked += chunk.length;
      if (unpacked > unpackedLimit) members.destroy(new Error('it is too large to be a chart'));
      if (wanted) chunks.push(chunk);
    });
    stream.on('error', next);
    stream.on('end', () => {
      if (wanted) found = { content: Buffer.concat(chunks).toString('utf8'), modified: header.mtime ?? new Date(0) };
      next();
    });
  });
  await pipeline(source, createGunzip(), members);
  return found;
}

function yamlOf(content: string, file: string): unknown {
  try {
    return parse(content, { maxAliasCount: 0, logLevel: 'error' });
  } catch (cause) {
    throw new BkeError('BKE_CHART_INVALID', `${file}: its Chart.yaml is no YAML: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
}
