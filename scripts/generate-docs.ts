// Writes the generated pages of docs/: `npm run docs`.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cliPage, errorsPage } from './docs.ts';

const docs = join(import.meta.dirname, '../docs');
for (const [name, text] of [
  ['errors.md', errorsPage()],
  ['reference/cli.md', cliPage()],
] as const) {
  const path = join(docs, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  console.log(path);
}
