// What was loaded, read from its catalogue: the programs of the local services and of the container runtime, and all that must be there.
import type { Digest } from '../../lib/digest.ts';
import { digestOf } from '../../lib/digest.ts';
import type { Bundle } from '../../release/bundle/open.ts';
import { type Catalogue, catalogueOf, compareVersions, findFile, tagOf } from '../../release/catalogue.ts';
import type { Platform } from '../../release/platforms.ts';
import type { Area } from '../../release/repository/store.ts';
import type { ProgramArtifact } from '../node/programs.ts';
import { mirroredRegistries } from '../node/registries.ts';
import type { ContentRecord } from './records.ts';

export function contentOf({ description, signature }: Pick<Bundle, 'description' | 'signature'>): ContentRecord {
  const { name, version, kubernetesVersions } = description;
  return {
    bundle: {
      name,
      version,
      digest: digestOf(JSON.stringify(description)),
      signature: signature.state,
      kubernetesVersions: [...kubernetesVersions],
    },
    catalogue: catalogueOf(description),
  };
}

/** Of the container runtime that bke installs. */
export const runtimePrograms = ['containerd', 'runc', 'crictl', 'cni-plugins'] as const;
export type ProgramName = 'registry' | (typeof runtimePrograms)[number];

export interface WantedContent {
  readonly catalogue: Catalogue;
  readonly platform: Platform;
}

/** A line for each thing that a host of this platform would miss. @param runtime whether it gets containerd from bke */
export function missingForServices({ catalogue, platform }: WantedContent, runtime: boolean): string[] {
  const names: readonly ProgramName[] = runtime ? ['registry', ...runtimePrograms] : ['registry'];
  const programs = names.filter((name) => findProgram({ catalogue, platform }, name) === undefined);
  const lines = programs.map((name) => `program ${name}`);
  return runtime && findPause({ catalogue, platform }) === undefined ? [...lines, 'image pause'] : lines;
}

/** A program in the local file repository, in the newest version there is. @param filesDir folder of the file repository */
export function programArtifact(content: WantedContent, filesDir: string, name: ProgramName): ProgramArtifact {
  const program = findProgram(content, name);
  if (program === undefined) throw new Error(`${name} was looked for before`);
  return { ...program, source: `${filesDir}/${program.path}` };
}

/** Public name of the newest pause image. */
export function sandboxImage(content: WantedContent): string {
  const pause = findPause(content);
  if (pause === undefined) throw new Error('a pause image was looked for before');
  return pause;
}

export interface LoadedImage {
  readonly ref: string;
  readonly digest: Digest;
}

export function imagesIn({ images }: Pick<Catalogue, 'images'>): LoadedImage[] {
  return images.map(({ ref, digest }) => ({ ref, digest }));
}

/** Registries that hosts take from the local one. */
export function registriesOf({ images }: Pick<Catalogue, 'images'>): string[] {
  return mirroredRegistries(images.map(({ ref }) => ref));
}

export interface LoadedFile {
  readonly area: Area;
  readonly path: string;
  readonly digest: Digest;
  readonly size: number;
}

/** Each path once: a file that is the same for every platform is listed for each of them. */
export function filesIn({ files, charts }: Pick<Catalogue, 'files' | 'charts'>): LoadedFile[] {
  const all = new Map<string, LoadedFile>();
  for (const { file: path, digest, size } of charts) all.set(`charts/${path}`, { area: 'charts', path, digest, size });
  for (const { path, digest, size } of files.flatMap(({ variants }) => Object.values(variants))) {
    all.set(`files/${path}`, { area: 'files', path, digest, size });
  }
  return [...all.values()];
}

function findProgram({ catalogue, platform }: WantedContent, name: ProgramName) {
  const found = findFile(catalogue, { name, platform });
  if (found === undefined) return undefined;
  const { type } = found;
  return type === 'binary' || type === 'archive' ? { ...found, type } : undefined;
}

/** Whatever registry it comes from: sites that build their own Kubernetes name it as they like. */
function findPause({ catalogue, platform }: WantedContent): string | undefined {
  const pauses = catalogue.images.filter(
    ({ ref, platforms }) => /\/pause:[^/]+$/.test(ref) && platforms[platform] !== undefined,
  );
  return pauses.map(({ ref }) => ref).toSorted((a, b) => compareVersions(tagOf(b), tagOf(a)))[0];
}
