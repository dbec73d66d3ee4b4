// The server's certificate and key: read from files, and again when they change, without dropping a connection.
import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import { whyNoKey } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import { toError } from '../../lib/thrown.ts';

export interface CertificateFiles {
  /** Paths of PEM files. */
  readonly certificate: string;
  readonly key: string;
}

export interface KeyPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const checkIntervalMs = 10_000;

/** @throws BkeError BKE_CERTIFICATE_UNREADABLE; never with the key in it. */
export async function readKeyPair(files: CertificateFiles): Promise<KeyPair> {
  try {
    const pair = { cert: await readFile(files.certificate), key: await readFile(files.key) };
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    const { certificate, key } = files;
    throw new BkeError(
      'BKE_CERTIFICATE_UNREADABLE',
      `cannot use certificate ${certificate} with key ${key}: ${whyNoKey(cause)}`,
    );
  }
}

export interface CertificateReloader {
  reload(): Promise<void>;
  stop(): void;
}

/** New connections get the new certificate; where it can't be used, the old one stays and `onWarning` tells. */
export function keepCertificates(
  servers: readonly Server[],
  files: CertificateFiles,
  onWarning: (message: string) => void,
): CertificateReloader {
  const reload = async (): Promise<void> => {
    try {
      const pair = await readKeyPair(files);
      for (const server of servers) server.setSecureContext({ ...pair, minVersion: 'TLSv1.2' });
    } catch (thrown) {
      onWarning(`the old certificate stays in use: ${toError(thrown).message}`);
    }
  };
  const changed = (): void => void reload();
  const paths = [files.certificate, files.key];
  for (const path of paths) watchFile(path, { interval: checkIntervalMs, persistent: false }, changed);
  return {
    reload,
    stop: () => {
      for (const path of paths) unwatchFile(path, changed);
    },
  };
}
