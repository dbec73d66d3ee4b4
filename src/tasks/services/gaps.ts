// What a service that answers lacks all the same: images and files that were loaded, and its own configuration and secrets.
import type { Host } from '../../host/host.ts';
import { createLimit } from '../../lib/limit.ts';
import { errorField, toError } from '../../lib/thrown.ts';
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { filesIn, imagesIn } from './content.ts';
import { servicePaths } from './layout.ts';
import { missingImages } from './missing.ts';
import { probeHttps } from './probe.ts';
import type { ContentRecord } from './records.ts';
import type { LocalService, ServiceId } from './service-list.ts';

const lookMs = 30_000;
const atOnce = 8;

export interface LoadedBefore {
  readonly settings: BootstrapSettings;
  /** PEM of the site CA. */
  readonly ca: string;
  readonly content: ContentRecord | undefined;
}

const { certificate, key, siteCa, siteCaKey, siteCaCertificate } = servicePaths;

/** What a start or a load needs, also where the running service has it in memory. */
const ownFiles: Readonly<Record<ServiceId, readonly string[]>> = {
  registry: [servicePaths.registryConfig, certificate, key, siteCa, siteCaKey, siteCaCertificate],
  'registry-push': [
    servicePaths.registryPushConfig,
    servicePaths.htpasswd,
    servicePaths.pushPassword,
    certificate,
    key,
  ],
  files: [certificate, key],
  charts: [certificate, key],
};

/** A line for each thing that is missing; bounded. */
export async function gapsOf(host: Host, service: LocalService, known: LoadedBefore): Promise<string[]> {
  return [...(await missingOwnFiles(host, service.id)), ...(await missingContent(service, known))];
}

async function missingOwnFiles(host: Host, id: ServiceId): Promise<string[]> {
  const lines = await Promise.all(
    ownFiles[id].map(async (path) =>
      (await mayBeThere(host, path)) ? [] : [`${path} is gone: bke init puts it back`],
    ),
  );
  return lines.flat();
}

/** Others than root may not look into the folder of the keys. */
async function mayBeThere(host: Host, path: string): Promise<boolean> {
  try {
    return (await host.files.stat(path)) !== undefined;
  } catch (thrown) {
    if (errorField(toError(thrown).cause, 'code') === 'EACCES') return true;
    throw thrown;
  }
}

async function missingContent(service: LocalService, known: LoadedBefore): Promise<string[]> {
  if (known.content === undefined || service.id === 'registry-push') return [];
  const signal = AbortSignal.timeout(lookMs);
  try {
    return service.id === 'registry'
      ? await missingImages({ ...known, signal }, imagesIn(known.content.catalogue))
      : await unservedFiles(service, known, signal);
  } catch (thrown) {
    const why = signal.aborted ? `it took longer than ${lookMs / 1000} s` : toError(thrown).message;
    return [`its content cannot be looked through: ${why}`];
  }
}

/** Asked of the service by the head of each file, not looked for on the disk: what it can serve is what counts. */
async function unservedFiles(service: LocalService, known: LoadedBefore, signal: AbortSignal): Promise<string[]> {
  const wanted =
    known.content === undefined ? [] : filesIn(known.content.catalogue).filter(({ area }) => area === service.id);
  const prefix = service.id === 'charts' ? '/charts/' : '/';
  const limit = createLimit(atOnce);
  const lines = await Promise.all(
    wanted.map(({ path, size }) =>
      limit(async () => {
        signal.throwIfAborted();
        const url = `${prefix}${path.split('/').map(encodeURIComponent).join('/')}`;
        const { status, bytes } = await probeHttps({ ...service.probe, ca: known.ca, path: url, method: 'HEAD' });
        if (status === 404) return [`${path} is missing`];
        if (status !== 200) return [`${path} is answered with HTTP ${status}`];
        return bytes === size ? [] : [`${path} has ${String(bytes)} of ${size} bytes`];
      }),
    ),
  );
  return lines.flat();
}
