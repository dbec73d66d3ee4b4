// Which parts of a bundle the local services and the container runtime themselves need, for the platform of their host.
import semver from 'semver';
import { digestOf } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { BundleDescription, FileEntry, ImageEntry } from '../../release/bundle/description.ts';
import { filesOf } from '../../release/bundle/load.ts';
import type { Bundle } from '../../release/bundle/open.ts';
import type { Platform } from '../../release/platforms.ts';
import { mirroredRegistries } from '../node/registries.ts';
import { type ContentRecord, type ProgramName, type ProgramRecord, programNames } from './records.ts';

/** @throws BkeError BKE_ARTIFACT_MISSING that lists everything a host of this platform would miss. */
export function contentOf(
  bundle: Pick<Bundle, 'description' | 'signature' | 'path'>,
  platform: Platform,
): ContentRecord {
  const { description } = bundle;
  const programs = programNames.map((name) => [name, findProgram(description, name, platform)] as const);
  const pause = findPause(description, platform);
  const missing = programs.flatMap(([name, program]) => (program === undefined ? [`the program ${name}`] : []));
  if (pause === undefined) missing.push('a pause image');
  if (missing.length > 0 || pause === undefined) {
    throw new BkeError('BKE_ARTIFACT_MISSING', `${bundle.path} lacks, for ${platform}: ${missing.join(', ')}`, {
      hint: 'Name them in the release manifest and build the bundle again with bke bundle build.',
    });
  }
  return {
    bundle: {
      name: description.name,
      version: description.version,
      digest: digestOf(JSON.stringify(description)),
      signature: bundle.signature.state,
      kubernetesVersions: [...description.kubernetesVersions],
    },
    programs: programRecords(programs),
    sandboxImage: pause.ref,
    registries: mirroredRegistries(images(description).map((image) => image.ref)),
    images: images(description).map(({ ref, digest }) => ({ ref, digest })),
    files: filesOf(bundle).map(({ area, file: { path, digest, size } }) => ({ area, path, digest, size })),
  };
}

function programRecords(
  found: readonly (readonly [ProgramName, ProgramRecord | undefined])[],
): Record<ProgramName, ProgramRecord> {
  const record = (name: ProgramName): ProgramRecord => {
    const program = found.find(([other]) => other === name)?.[1];
    if (program === undefined) throw new Error(`${name} was found before`);
    return program;
  };
  return {
    registry: record('registry'),
    containerd: record('containerd'),
    runc: record('runc'),
    crictl: record('crictl'),
    'cni-plugins': record('cni-plugins'),
  };
}

/** The newest version there is for the platform. */
function findProgram(description: BundleDescription, name: string, platform: Platform): ProgramRecord | undefined {
  const entries = description.entries.filter(
    (entry): entry is FileEntry => entry.kind === 'file' && entry.name === name,
  );
  const usable = entries.flatMap(({ version, type, variants }) => {
    const variant = variants[platform];
    if (variant === undefined || (type !== 'binary' && type !== 'archive')) return [];
    return [{ version, type, path: variant.path, digest: variant.digest }];
  });
  return usable.sort((a, b) => compareVersions(b.version, a.version))[0];
}

function findPause(description: BundleDescription, platform: Platform): ImageEntry | undefined {
  const pauses = images(description).filter(
    ({ ref, platforms }) => /\/pause:[^/]+$/.test(ref) && platforms[platform] !== undefined,
  );
  return pauses.sort((a, b) => compareVersions(tag(b.ref), tag(a.ref)))[0];
}

function images(description: BundleDescription): ImageEntry[] {
  return description.entries.filter((entry) => entry.kind === 'image');
}

function tag(ref: string): string {
  return ref.slice(ref.lastIndexOf(':') + 1);
}

/** As semantic versions where they look like some, e.g. v1.4.4 or 3.10; else as text. */
function compareVersions(a: string, b: string): number {
  const [first, second] = [semver.coerce(a), semver.coerce(b)];
  const byVersion = first === null || second === null ? 0 : semver.compare(first, second);
  return byVersion === 0 ? a.localeCompare(b) : byVersion;
}
