// Reads the text of a YAML file that someone named: bounded, and refused before it is parsed where it is something else.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { formatBytes } from '../lib/bytes.ts';
import { whyUnreadable } from '../lib/errno.ts';
import type { ErrorCode } from '../lib/error-table.ts';
import { BkeError } from '../lib/errors.ts';
import { toError } from '../lib/thrown.ts';

/** What people write by hand is far smaller; a larger file is the wrong one. */
const largestBytes = 1024 * 1024;

export interface NamedFile {
  readonly path: string;
  /** As the user wrote it, for messages. */
  readonly name: string;
  /** What it should be: 'release manifest'. */
  readonly what: string;
  /** What to do where it cannot be read; default: name another. */
  readonly hint?: string;
  /** Of the errors: which file it is that is wrong. */
  readonly code: ErrorCode;
}

/** Nothing of the content is in any message. @throws BkeError with the code of `file` where it cannot be read or is no text. */
export async function readYamlFile(file: NamedFile): Promise<string> {
  const { bytes, size } = await readStart(file);
  const text = decoded(bytes);
  if (text === undefined) {
    throw new BkeError(file.code, `${file.name} is no YAML file (binary${sizeNote(size)})`, {
      hint: "A bundle goes to 'bke init --bundle FILE'.",
    });
  }
  const pem = /^-----BEGIN [A-Z0-9 ]+-----/m.exec(text)?.[0];
  if (pem !== undefined) {
    const looks = pem.includes('KEY') ? 'a PEM key' : 'a PEM file';
    throw new BkeError(file.code, `${file.name}: this is no YAML settings file (it looks like ${looks})`, {
      hint: `Name the ${file.what} instead.`,
    });
  }
  if (bytes.length > largestBytes) {
    throw new BkeError(
      file.code,
      `${file.name} is no ${file.what}: it has more than ${formatBytes(largestBytes)}${sizeNote(size)}`,
      { hint: 'Name another file.' },
    );
  }
  return text;
}

function sizeNote(size: number): string {
  return size === 0 ? '' : `, ${formatBytes(size)}`;
}

/** At most one byte more than may be there; size is 0 for pipes. */
async function readStart({ path, name, what, code, hint }: NamedFile): Promise<{ bytes: Buffer; size: number }> {
  try {
    const handle = await open(path, constants.O_RDONLY);
    try {
      return { bytes: await readAtMost(handle, largestBytes + 1), size: (await handle.stat()).size };
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    const why = whyUnreadable(thrown);
    throw new BkeError(code, `cannot read the ${what} ${name}: ${why ?? toError(thrown).message}`, {
      cause: why === undefined ? thrown : undefined,
      hint: hint ?? `Name a ${what} (YAML) that is there and that you may read.`,
    });
  }
}

async function readAtMost(handle: FileHandle, most: number): Promise<Buffer> {
  const buffer = Buffer.alloc(most);
  let filled = 0;
  while (filled < most) {
    const { bytesRead } = await handle.read(buffer, filled, most - filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** undefined where it is no text. A letter that is cut at the bound is no fault. */
function decoded(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: bytes.length > largestBytes });
  } catch {
    return undefined;
  }
}
