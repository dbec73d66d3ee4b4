// Inputs that several bundle commands read the same way.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { whyUnreadable } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import type { InputReader } from '../../lib/input.ts';
import { readSecretFile } from '../../lib/read-secret-file.ts';
import { toError } from '../../lib/thrown.ts';
import type { OpenBundleOptions } from '../../release/bundle/open.ts';
import { type Platform, platforms } from '../../release/platforms.ts';
import { readTrustKey } from '../../release/trust.ts';
import type { CommandContext } from '../context.ts';

export function platformsOf(read: InputReader): readonly Platform[] {
  const given = read.texts('platform');
  return platforms.filter((platform) => given.includes(platform));
}

export async function openOptions(context: CommandContext, read: InputReader): Promise<OpenBundleOptions> {
  const trustKeys = await Promise.all(
    read.texts('trustKey').map((path) => readTrustKey(resolve(context.cwd, path), path)),
  );
  return { trustKeys, allowUnsigned: read.flag('allowUnsigned'), platforms: platformsOf(read) };
}

/** PEM texts. @throws BkeError BKE_KEY_INVALID */
export async function readCertificates(context: CommandContext, paths: readonly string[]): Promise<string[]> {
  return Promise.all(
    paths.map(async (path) => {
      const text = await readNamed(context, path, (file) => readFile(file, 'utf8'));
      if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
      throw new BkeError('BKE_KEY_INVALID', `${path} has no certificate in PEM form`);
    }),
  );
}

/** Without the line end that editors add. @throws BkeError BKE_SECRET_EXPOSED, BKE_USAGE where it is empty or has more than a line */
export async function readPassword(context: CommandContext, path: string): Promise<string> {
  const password = (await readNamed(context, path, readSecretFile)).replace(/\r?\n$/, '');
  if (password.trim() === '') throw new BkeError('BKE_USAGE', `${path} is empty: it holds no password`);
  if (password.includes('\n')) throw new BkeError('BKE_USAGE', `${path} has more than one line: it holds no password`);
  return password;
}

async function readNamed(
  context: CommandContext,
  path: string,
  read: (path: string) => Promise<string>,
): Promise<string> {
  try {
    return await read(resolve(context.cwd, path));
  } catch (cause) {
    if (cause instanceof BkeError) throw cause;
    const why = whyUnreadable(cause);
    throw new BkeError('BKE_USAGE', `cannot read ${path}: ${why ?? toError(cause).message}`, {
      cause: why === undefined ? cause : undefined,
    });
  }
}
