// Brings the files that a step names to the host: from the site's file repository, by digest, going on where a download broke off.
import { z } from 'zod';
import { type Digest, hexOf, isDigest } from '../../lib/digest.ts';
import type { ErrorCode } from '../../lib/error-table.ts';
import { BkeError } from '../../lib/errors.ts';
import { eachLimited } from '../../lib/limit.ts';
import { createAgent } from '../../release/oci/http.ts';
import { BlobCache, type RemoteBlob } from '../../release/sources/blob-cache.ts';
import { urlBlob } from '../../release/sources/url.ts';
import { agentPaths } from '../agent/paths.ts';
import type { ProgramArtifact } from '../node/programs.ts';
import type { StepContext } from './step.ts';

/** It becomes part of a path. */
const pathPart = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, 'no plain name');

/** A file artifact of a release, by where it can be had. */
export const stepArtifact = z.strictObject({
  name: pathPart,
  version: pathPart,
  type: z.enum(['binary', 'archive']),
  url: z
    .string()
    .max(2048)
    .refine((text) => URL.parse(text)?.protocol === 'https:', 'no https address'),
  digest: z.string().refine(isDigest, 'no digest sha256:<hex>'),
  size: z.int().nonnegative().optional(),
});
export type StepArtifact = z.infer<typeof stepArtifact>;

const atOnce = 3;

/** All of them, under the same keys. @throws BkeError BKE_DOWNLOAD_FAILED, BKE_DIGEST_MISMATCH, BKE_DISK_FULL */
export async function bringArtifacts<Key extends string>(
  context: StepContext,
  artifacts: Readonly<Record<Key, StepArtifact>>,
): Promise<Record<Key, ProgramArtifact>> {
  const { scope, settings } = context;
  await scope.apply({ kind: 'zone', path: agentPaths.artifacts });
  const cache = new BlobCache(context.artifactsDir);
  const agent = createAgent({ ca: [settings.site.ca], proxyEnv: undefined });
  const wanted: readonly StepArtifact[] = Object.values(artifacts);
  try {
    await eachLimited(wanted, atOnce, async (artifact) => {
      await scope.act(`download ${artifact.name} ${artifact.version}`, () =>
        bringOne(context, cache, remoteOf(context, artifact, agent)),
      );
    });
  } catch (thrown) {
    throw withSiteHint(thrown, context);
  } finally {
    agent.destroy();
  }
  return mapped(artifacts, ({ name, version, type, digest }) => ({
    name,
    version,
    type,
    digest,
    source: pathOf(digest),
  }));
}

function mapped<Key extends string, From, To>(
  record: Readonly<Record<Key, From>>,
  of: (value: From) => To,
): Record<Key, To> {
  const entries = Object.entries<From>(record).map(([key, value]) => [key, of(value)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of the record
  return Object.fromEntries(entries) as Record<Key, To>;
}

function pathOf(digest: Digest): string {
  return `${agentPaths.artifacts}/sha256/${hexOf(digest)}`;
}

/** false where it was there already. */
async function bringOne({ scope }: StepContext, cache: BlobCache, remote: RemoteBlob): Promise<boolean> {
  const present = (await scope.host.files.stat(pathOf(remote.digest))) !== undefined;
  await cache.ensure(remote);
  return !present;
}

function remoteOf(
  { scope }: StepContext,
  { name, url, digest, size }: StepArtifact,
  agent: ReturnType<typeof createAgent>,
): RemoteBlob {
  const remote = urlBlob({ url, digest, agent, signal: scope.signal });
  return {
    ...remote,
    ...(size === undefined ? {} : { size }),
    fetch: async function* (offset) {
      let done = offset;
      for await (const chunk of remote.fetch(offset)) {
        done += chunk.length;
        scope.progress({
          message: `download ${name}`,
          done,
          ...(size === undefined ? {} : { total: size }),
          unit: 'bytes',
        });
        yield chunk;
      }
    },
  };
}

function withSiteHint(thrown: unknown, { scope, settings: { site } }: StepContext): unknown {
  if (!(thrown instanceof BkeError)) return thrown;
  const hints: { readonly [Code in ErrorCode]?: string } = {
    BKE_DOWNLOAD_FAILED: `Look on the services host with 'bke status', and on this host whether ${site.domain} (${site.hostIP}) can be reached.`,
    BKE_DIGEST_MISMATCH: `The file is damaged in the file repository of ${site.hostIP}: 'bke init --bundle FILE' there puts it right, and leaves the rest as it is.`,
  };
  const hint = hints[thrown.code];
  if (hint === undefined) return thrown;
  return new BkeError(thrown.code, thrown.message, { host: scope.host.name, cause: thrown, hint });
}
