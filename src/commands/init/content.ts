// The bundle `bke init` loads, opened and verified before anything changes; or what an earlier init loaded. Either must have all that is wanted.
import type { Host } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';
import type { InputReader } from '../../lib/input.ts';
import { type Bundle, openBundle } from '../../release/bundle/open.ts';
import type { Platform } from '../../release/platforms.ts';
import type { BootstrapChoice } from '../../config/bootstrap.ts';
import { k3sMissing, missingForK3s } from '../../tasks/bootstrap-cluster/k3s/k3s.ts';
import { missingForKubeadm } from '../../tasks/bootstrap-cluster/kubeadm/kubeadm.ts';
import { missingForManagement } from '../../tasks/cluster-api/phases.ts';
import { contentOf, missingForServices, type WantedContent } from '../../tasks/services/content.ts';
import { type ContentRecord, readContent } from '../../tasks/services/records.ts';
import { openOptions } from '../bundle/inputs.ts';
import type { CommandContext } from '../context.ts';

export interface InitContent {
  readonly content: ContentRecord;
  readonly platform: Platform;
  /** To be closed by the caller. */
  readonly bundle: Bundle | undefined;
  /** This very content came to its end before. */
  readonly loaded: boolean;
}

interface Wanted {
  /** Of the bundle; undefined: what was loaded before. */
  readonly path: string | undefined;
  readonly platform: Platform;
  readonly bootstrap: BootstrapChoice;
  readonly bkeVersion: string;
}

export interface ContentRequest extends Wanted {
  readonly host: Host;
}

/** @throws BkeError BKE_BUNDLE_*, BKE_ARTIFACT_MISSING, and BKE_BUNDLE_NEEDED where there is neither a bundle nor anything loaded. */
export async function openContent(
  context: CommandContext,
  input: InputReader,
  request: ContentRequest,
): Promise<InitContent> {
  const { platform, path } = request;
  const recorded = await readContent(request.host);
  if (path === undefined) {
    if (recorded === undefined) throw bundleNeeded();
    refuseIncomplete(recorded, request);
    return { content: recorded, platform, bundle: undefined, loaded: true };
  }
  const options = { ...(await openOptions(context, input)), platforms: [platform] };
  const bundle = await openBundle(path, options);
  try {
    const content = contentOf(bundle);
    refuseIncomplete(content, request);
    return { content, platform, bundle, loaded: recorded?.bundle.digest === content.bundle.digest };
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

/** @throws BkeError BKE_ARTIFACT_MISSING that lists everything this host would miss. */
export function refuseIncomplete({ bundle, catalogue }: ContentRecord, request: Wanted): void {
  const { path, platform, bootstrap } = request;
  const { cluster, others } = missingFor({ catalogue, platform }, request);
  const missing = [...new Set([...others, ...cluster])];
  if (missing.length === 0) return;
  if (bootstrap === 'k3s' && others.length === 0) {
    const byKubeadm = missingFor({ catalogue, platform }, { ...request, bootstrap: 'kubeadm' });
    throw k3sMissing(cluster, byKubeadm.cluster.length + byKubeadm.others.length === 0);
  }
  const what = path ?? `what was loaded before (${bundle.name} ${bundle.version})`;
  const purpose = bootstrap === 'none' ? 'the local services' : `a bootstrap cluster by ${bootstrap}`;
  throw new BkeError('BKE_ARTIFACT_MISSING', `${what} lacks, for ${purpose} on ${platform}:`, {
    details: missing,
    hint: `Name them in the release manifest and build the bundle again with bke bundle build.${wayOut(bootstrap)}`,
  });
}

interface Missing {
  readonly cluster: readonly string[];
  /** Whatever makes the cluster. */
  readonly others: readonly string[];
}

function missingFor(content: WantedContent, { bootstrap, bkeVersion }: Wanted): Missing {
  const services = missingForServices(content, bootstrap !== 'k3s');
  if (bootstrap === 'none') return { cluster: [], others: services };
  return {
    cluster: bootstrap === 'k3s' ? missingForK3s(content) : missingForKubeadm(content),
    others: [...services, ...missingForManagement({ ...content, bkeVersion })],
  };
}

function wayOut(bootstrap: BootstrapChoice): string {
  if (bootstrap === 'none') return '';
  const other = bootstrap === 'k3s' ? ' Or let kubeadm make the cluster (--bootstrap kubeadm).' : '';
  return `${other} Local services alone need less: --bootstrap none.`;
}
