// When the certificate of the local services ends, and from when on a person has to be told: nothing renews it on a host where nobody runs bke.
import type { Host } from '../../host/host.ts';
import { notAfter } from '../../lib/x509.ts';
import { servicePaths } from './layout.ts';

const dayMs = 24 * 3_600_000;
/** Early enough for a site that is looked at twice a year. By then `bke start` makes a new one (two thirds of its life are over). */
const toldDays = 180;

/** undefined where there is none that can be read. */
export async function certificateEnd(host: Host): Promise<Date | undefined> {
  const text = (await host.files.read(servicePaths.certificate))?.toString('utf8');
  return text === undefined ? undefined : notAfter(text);
}

/** undefined: there is time. */
export function certificateLine(end: Date, now: Date): string | undefined {
  const daysLeft = (end.getTime() - now.getTime()) / dayMs;
  if (daysLeft > toldDays) return undefined;
  const day = end.toISOString().slice(0, 10);
  const when = daysLeft < 0 ? `ended on ${day}: no host accepts it any more` : `ends on ${day}`;
  return `The certificate of the local services ${when}. 'bke start' makes a new one, and restarts the services with it.`;
}
