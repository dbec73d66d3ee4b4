// The bundle `bke init` loads, opened and verified before anything changes; or what an earlier init loaded.
import type { Host } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';
import type { InputReader } from '../../lib/input.ts';
import { type Bundle, openBundle } from '../../release/bundle/open.ts';
import type { Platform } from '../../release/platforms.ts';
import { contentOf } from '../../tasks/services/content.ts';
import { type ContentRecord, readContent } from '../../tasks/services/records.ts';
import { openOptions } from '../bundle/inputs.ts';
import type { CommandContext } from '../context.ts';

export interface InitContent {
  readonly content: ContentRecord;
  /** To be closed by the caller. */
  readonly bundle: Bundle | undefined;
  /** This very content came to its end before. */
  readonly loaded: boolean;
}

export interface ContentRequest {
  readonly host: Host;
  readonly path: string | undefined;
  readonly platform: Platform;
}

/** @throws BkeError BKE_BUNDLE_*, BKE_ARTIFACT_MISSING, and BKE_BUNDLE_NEEDED where there is neither a bundle nor anything loaded. */
export async function openContent(
  context: CommandContext,
  input: InputReader,
  request: ContentRequest,
): Promise<InitContent> {
  const recorded = await readContent(request.host);
  if (request.path === undefined) {
    if (recorded === undefined) throw bundleNeeded();
    return { content: recorded, bundle: undefined, loaded: true };
  }
  const options = { ...(await openOptions(context, input)), platforms: [request.platform] };
  const bundle = await openBundle(request.path, options);
  try {
    const content = contentOf(bundle, request.platform);
    return { content, bundle, loaded: recorded?.bundle.digest === content.bundle.digest };
  } catch (thrown) {
    await bundle.close();
    throw thrown;
  }
}

function bundleNeeded(): BkeError {
  return new BkeError('BKE_BUNDLE_NEEDED', 'no bundle was named, and none was loaded on this host before', {
    hint: 'Name one with --bundle FILE. A machine that has the artifacts makes one: bke bundle build.',
  });
}
