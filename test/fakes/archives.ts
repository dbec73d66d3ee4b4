// Tar archives made in memory, good ones and bad ones.
import { pack } from 'tar-stream';

export interface TarEntry {
  readonly name: string;
  readonly type?: 'file' | 'directory' | 'symlink' | 'link' | 'block-device' | 'character-device' | 'fifo';
  readonly mode?: number;
  readonly linkname?: string;
  readonly content?: string;
}

export function makeTar(entries: readonly TarEntry[]): Promise<Buffer> {
  const tar = pack();
  const chunks: Uint8Array[] = [];
  for (const { content, ...header } of entries) tar.entry(header, content ?? '');
  tar.finalize();
  return new Promise((resolve, reject) => {
    tar.on('data', (chunk: unknown) => {
      if (chunk instanceof Uint8Array) chunks.push(chunk);
    });
    tar.on('end', () => resolve(Buffer.concat(chunks)));
    tar.on('error', (error: Error) => reject(error));
  });
}
