// Small helpers for files and folders of the test bed itself.
import { lstat, readFile, rename, writeFile } from 'node:fs/promises';
import { run } from './run.ts';

/** Whether a path exists (a dangling link does). */
export async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

/** Writes a file whole or not at all. */
export async function writeWhole(file: string, content: string, mode = 0o644): Promise<void> {
  const draft = `${file}.draft`;
  await writeFile(draft, content, { mode });
  await rename(draft, file);
}

/** Mount points at or below a folder, innermost last mounted first. */
export async function mountsBelow(folder: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trimEnd().split('\n');
  const points = lines.map((line) => decodeMountPath(line.split(' ')[4] ?? ''));
  return points.filter((point) => point === folder || point.startsWith(`${folder}/`)).reverse();
}

function decodeMountPath(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_whole, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Unmounts everything at or below a folder of the test bed. */
export async function unmountBelow(folder: string): Promise<void> {
  for (const point of await mountsBelow(folder)) await run(['umount', point]);
}

/** Removes a folder of the test bed; what a killed run left mounted in it is unmounted first, never deleted through. */
export async function removeTree(folder: string): Promise<void> {
  await unmountBelow(folder);
  await run(['rm', '-rf', '--one-file-system', folder], { timeout: 300 });
}
