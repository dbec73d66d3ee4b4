// Writes assets/crds/ anew from the schemas in src/api/kinds.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { customResourceDefinitions } from '../src/api/crd/crds.ts';

const folder = join(import.meta.dirname, '..', 'assets', 'crds');
await mkdir(folder, { recursive: true });
for (const { name, definition } of customResourceDefinitions()) {
  const path = join(folder, `${name}.yaml`);
  await writeFile(
    path,
    `# Made by scripts/generate-crds.ts from src/api/kinds; edit that instead.\n${stringify(definition, { lineWidth: 0, compat: 'yaml-1.1' })}`,
  );
  console.log(path);
}
