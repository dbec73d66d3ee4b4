// `write_files`, each a change of the ledger.
import type { TaskScope } from '../../task.ts';
import { mostFileBytes } from './content.ts';
import type { FileToWrite } from './parse.ts';

export async function writeFiles(scope: TaskScope, files: readonly FileToWrite[]): Promise<void> {
  for (const file of files) {
    const { path, mode, owner } = file;
    const bytes = file.append ? await appended(scope, file) : file.content;
    await scope.apply({ kind: 'file', path, mode, owner, content: { bytes } });
  }
}

/** What is in the file already is not put there a second time: an attempt may have failed after it. */
async function appended({ host }: TaskScope, { path, content }: FileToWrite): Promise<Buffer> {
  const there = (await host.files.read(path, { maxBytes: mostFileBytes })) ?? Buffer.alloc(0);
  return there.includes(content) ? there : Buffer.concat([there, content]);
}
