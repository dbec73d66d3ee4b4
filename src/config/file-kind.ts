// The two files that people take for each other: bootstrap.yaml and cluster.yaml.
import { BkeError } from '../lib/errors.ts';
import { shellCommand } from '../lib/quote.ts';

type FileKind = 'Bootstrap' | 'Cluster';

const files: Readonly<Record<FileKind, string>> = { Bootstrap: 'bootstrap.yaml', Cluster: 'cluster.yaml' };

/** The option of `bke init` that takes each. */
const options: Readonly<Record<FileKind, string>> = { Bootstrap: '--config', Cluster: '-f' };

/** Before what is wrong with it as the other kind. @param name as it was typed. @throws BkeError BKE_CONFIG_INVALID */
export function refuseOtherKind(raw: unknown, name: string, wanted: FileKind): void {
  const other = wanted === 'Cluster' ? 'Bootstrap' : 'Cluster';
  if (typeof raw !== 'object' || raw === null || Reflect.get(raw, 'kind') !== other) return;
  throw new BkeError(
    'BKE_CONFIG_INVALID',
    `${name} is a ${files[other]} (kind: ${other}), and a ${files[wanted]} is asked for`,
    {
      hint: `Nothing was done. It belongs to: ${shellCommand(['bke', 'init', options[other], name])}`,
    },
  );
}
