// The catalogue of a release: which artifact has which digest, per platform. Kept on the services host and, as a ConfigMap, in the management
// cluster; versions are resolved from it alone.
import { z } from 'zod';
import semver from 'semver';
import type { BundleDescription } from './bundle/description.ts';
import { digest } from './manifest.ts';
import { type Platform, platforms } from './platforms.ts';

const platform = z.enum(platforms);
const content = { digest, size: z.int().nonnegative() };

const catalogueFile = z.object({
  name: z.string(),
  version: z.string(),
  type: z.enum(['binary', 'archive', 'manifest', 'other']),
  /** `path` in the file repository. */
  variants: z.partialRecord(platform, z.object({ path: z.string(), ...content })),
});
const catalogueImage = z.object({
  name: z.string(),
  /** Full public name with tag. */
  ref: z.string(),
  digest,
  platforms: z.partialRecord(platform, digest),
});
const catalogueChart = z.object({ name: z.string(), version: z.string(), file: z.string(), ...content });

export const catalogueSchema = z.object({
  name: z.string(),
  version: z.string(),
  kubernetesVersions: z.array(z.string()),
  files: z.array(catalogueFile),
  images: z.array(catalogueImage),
  charts: z.array(catalogueChart),
});
export type Catalogue = z.infer<typeof catalogueSchema>;
export type CatalogueFile = z.infer<typeof catalogueFile>;
export type CatalogueImage = z.infer<typeof catalogueImage>;

/** One file for one platform. */
export interface FileArtifact extends Pick<CatalogueFile, 'name' | 'version' | 'type'> {
  readonly path: string;
  /** sha256:<hex> */
  readonly digest: string;
  readonly size: number;
}

export function catalogueOf(description: BundleDescription): Catalogue {
  const { name, version, kubernetesVersions, entries } = description;
  const of = <Kind extends (typeof entries)[number]['kind']>(kind: Kind) =>
    entries.filter((entry): entry is Extract<(typeof entries)[number], { kind: Kind }> => entry.kind === kind);
  return catalogueSchema.parse({
    name,
    version,
    kubernetesVersions,
    files: of('file'),
    images: of('image'),
    charts: of('chart'),
  });
}

/** The artifact of that version, or its newest; undefined where there is none for the platform. */
export function findFile(
  { files }: Pick<Catalogue, 'files'>,
  wanted: { readonly name: string; readonly version?: string; readonly platform: Platform },
): FileArtifact | undefined {
  const found = files.flatMap(({ name, version, type, variants }) => {
    const variant = variants[wanted.platform];
    if (name !== wanted.name || variant === undefined) return [];
    if (wanted.version !== undefined && wanted.version !== version) return [];
    return [{ name, version, type, ...variant }];
  });
  return found.toSorted((a, b) => compareVersions(b.version, a.version))[0];
}

/** Images of a repository (`registry.k8s.io/pause`) that a platform can run, newest tag first. */
export function findImages(
  { images }: Pick<Catalogue, 'images'>,
  wanted: { readonly repository: string; readonly platform: Platform },
): CatalogueImage[] {
  const found = images.filter(
    (image) => repositoryOf(image.ref) === wanted.repository && image.platforms[wanted.platform] !== undefined,
  );
  return found.toSorted((a, b) => compareVersions(tagOf(b.ref), tagOf(a.ref)));
}

/** Everything before the tag. */
function repositoryOf(ref: string): string {
  return ref.slice(0, ref.lastIndexOf(':'));
}

export function tagOf(ref: string): string {
  return ref.slice(ref.lastIndexOf(':') + 1);
}

/** As semantic versions where they look like some, e.g. v1.4.4 or 3.10; a release comes after its candidates. Else as text. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [semanticVersion(a), semanticVersion(b)];
  const byVersion = first === null || second === null ? 0 : semver.compareBuild(first, second);
  return byVersion === 0 ? a.localeCompare(b) : byVersion;
}

function semanticVersion(text: string): semver.SemVer | null {
  return semver.coerce(text, { includePrerelease: true });
}
