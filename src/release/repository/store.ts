// The file repository on disk: <dir>/files/<path> and <dir>/charts/<file>.tgz, with the digest of each kept beside so that nothing is hashed twice.
import type { Readable } from 'node:stream';
import type { Content } from '../../lib/digest.ts';

export interface StoredFile extends Content {
  /** Relative to files/ or charts/. */
  readonly path: string;
  readonly modified: Date;
}

export type Area = 'files' | 'charts';

export interface FileRepository {
  /** Absolute path of the data directory. */
  readonly dir: string;
  /** undefined where no such file is. A file copied in by hand is hashed once. */
  find(area: Area, path: string): Promise<StoredFile | undefined>;
  list(area: Area): Promise<readonly StoredFile[]>;
  /**
   * Written beside its place, verified, synced, renamed. false where the same content was there already.
   * @throws BkeError BKE_DIGEST_MISMATCH, BKE_DISK_FULL, BKE_CHART_CONFLICT (same chart version, other content, not forced).
   */
  add(
    area: Area,
    file: { readonly path: string } & Content,
    source: () => Readable,
    options?: { readonly force?: boolean },
  ): Promise<boolean>;
  /** false where it was not there. */
  remove(area: Area, path: string): Promise<boolean>;
}

/** Makes the directories where they are missing (0755; files are 0644: everything in it may be read by every host). */
export async function openFileRepository(_dir: string): Promise<FileRepository> {
  throw new Error('not built yet');
}
