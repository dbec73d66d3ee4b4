// A chart artifact: its archive says itself which chart it is.
import { BkeError } from '../../lib/errors.ts';
import type { ChartArtifact } from '../manifest.ts';
import { mediaType } from '../oci/types.ts';
import { readChart } from '../repository/chart-archive.ts';
import { chartFileName } from '../repository/charts.ts';
import { artifactManifest } from './artifact-manifest.ts';
import { type Resolved, Unresolved, type Wanted } from './wanted.ts';

export async function resolveChart(artifact: ChartArtifact, { sources }: Wanted): Promise<Resolved> {
  const { name, version } = artifact;
  try {
    const origin = await sources.file(artifact.source);
    const { metadata } = await readChart(origin.open(), origin.where);
    if (metadata.name !== name || metadata.version !== version) {
      throw new BkeError('BKE_CHART_INVALID', `${origin.where} is chart ${metadata.name} ${metadata.version}`);
    }
    const file = chartFileName(artifact);
    const { manifest, config } = artifactManifest({
      artifactType: 'application/vnd.bke.chart.v1',
      mediaType: mediaType.chart,
      digest: origin.digest,
      size: origin.size,
      title: file,
    });
    const { digest, size } = origin;
    return {
      entry: { kind: 'chart', name, version, file, digest, size, manifest: manifest.digest },
      blobs: [origin, manifest, config],
    };
  } catch (thrown) {
    if (thrown instanceof BkeError)
      throw new Unresolved('BKE_ARTIFACT_UNUSABLE', [`chart ${name} ${version}: ${thrown.message}`]);
    throw thrown;
  }
}
