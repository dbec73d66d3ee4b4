// Helm's index.yaml, made from the charts that are really there: a bad file is told as bad and hides no good one.
import { open } from 'node:fs/promises';
import semver from 'semver';
import { stringify } from 'yaml';
import { BkeError } from '../../lib/errors.ts';
import { hexOf } from '../../lib/digest.ts';
import { readRange } from '../../lib/file-range.ts';
import { type ChartArchive, normalVersion, readChart } from './chart-archive.ts';
import type { StoredFile } from './store.ts';

interface IndexedChart extends ChartArchive {
  readonly file: StoredFile;
}

export interface BadChart {
  /** File name in charts/. */
  readonly file: string;
  readonly reason: string;
}

export interface ChartIndex {
  /** By name, newest version first. */
  readonly charts: readonly IndexedChart[];
  readonly bad: readonly BadChart[];
}

/** Reads each archive once as long as it doesn't change. */
export class ChartIndexer {
  readonly #read = new Map<string, { readonly digest: string; readonly result: ChartArchive | BadChart }>();

  /** @param absolute the path of a chart file on disk. */
  async index(files: readonly StoredFile[], absolute: (path: string) => string): Promise<ChartIndex> {
    const charts: IndexedChart[] = [];
    const bad: BadChart[] = [];
    for (const file of files) {
      const result = await this.#archive(file, absolute(file.path));
      if ('reason' in result) bad.push(result);
      else charts.push({ ...result, file });
    }
    const names = new Set(files.map(({ path }) => path));
    for (const name of this.#read.keys()) if (!names.has(name)) this.#read.delete(name);
    return withoutDoubles(charts, bad);
  }

  async #archive(file: StoredFile, absolute: string): Promise<ChartArchive | BadChart> {
    const known = this.#read.get(file.path);
    if (known?.digest === file.digest) return known.result;
    const result = await readChartFile(absolute, file.path).catch((thrown: unknown) => {
      if (thrown instanceof BkeError) return { file: file.path, reason: thrown.message };
      throw thrown;
    });
    this.#read.set(file.path, { digest: file.digest, result });
    return result;
  }
}

async function readChartFile(absolute: string, name: string): Promise<ChartArchive> {
  const file = await open(absolute, 'r');
  try {
    return await readChart(readRange(file, 0, (await file.stat()).size), name);
  } finally {
    await file.close();
  }
}

/** The name Helm itself gives a chart's file. */
export function chartFileName({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name}-${version}.tgz`;
}

/** Two files of one name and version, as a copy by hand can leave: the one with the right name counts. */
function withoutDoubles(charts: readonly IndexedChart[], bad: readonly BadChart[]): ChartIndex {
  const kept = new Map<string, IndexedChart>();
  const doubles: BadChart[] = [];
  const rightNameFirst = [...charts].sort((a, b) => Number(isRightlyNamed(b)) - Number(isRightlyNamed(a)));
  for (const chart of rightNameFirst) {
    const { name, version } = chart.metadata;
    const other = kept.get(`${name} ${version}`);
    if (other === undefined) kept.set(`${name} ${version}`, chart);
    else if (other.file.digest !== chart.file.digest) {
      const reason = `${chart.file.path} is ${name} ${version} with other content than ${other.file.path}`;
      doubles.push({ file: chart.file.path, reason });
    }
  }
  return { charts: [...kept.values()].sort(byNameAndVersion), bad: [...bad, ...doubles] };
}

function isRightlyNamed({ metadata, file }: IndexedChart): boolean {
  return file.path === chartFileName(metadata);
}

function byNameAndVersion(a: IndexedChart, b: IndexedChart): number {
  if (a.metadata.name !== b.metadata.name) return a.metadata.name < b.metadata.name ? -1 : 1;
  return semver.compareBuild(
    normalVersion(b.metadata.version) ?? '0.0.0',
    normalVersion(a.metadata.version) ?? '0.0.0',
  );
}

/**
 * The same charts give the same bytes.
 * @param folder what leads from the index to the charts: 'charts/' beside them, '' among them.
 */
export function renderIndex({ charts, bad }: ChartIndex, folder: string): Buffer {
  const entries: Record<string, object[]> = {};
  for (const { metadata, created, file } of charts) {
    const list = (entries[metadata.name] ??= []);
    const urls = [folder + encodeURIComponent(file.path)];
    list.push({ ...metadata, created: created.toISOString(), digest: hexOf(file.digest), urls });
  }
  const newest = charts.reduce((latest, { created }) => Math.max(latest, created.getTime()), 0);
  const body = stringify({ apiVersion: 'v1', generated: new Date(newest).toISOString(), entries }, { lineWidth: 0 });
  const comments = bad.map(({ reason }) => `# not listed: ${reason.replaceAll(/\s+/g, ' ')}\n`);
  return Buffer.from(comments.join('') + body);
}
