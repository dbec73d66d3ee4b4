// bke status: what stands on this host, service by service, then the bootstrap cluster part by part.
import { formatBytes } from '../lib/bytes.ts';
import { formatDuration } from '../lib/duration.ts';
import type { Column } from '../lib/command.ts';
import type { Host } from '../host/host.ts';
import type { ServicesStatus, ServiceStatus } from '../tasks/services/status.ts';
import type { Command, CommandContext } from './context.ts';
import type { Running } from './running.ts';

const columnsAt = (now: Date): readonly Column[] => [
  { title: 'name', field: 'name' },
  { title: 'state', field: 'state' },
  { title: 'version', field: 'version' },
  { title: 'address', field: 'address' },
  { title: 'data', field: 'dataBytes', text: (bytes) => formatBytes(Number(bytes)) },
  {
    title: 'age',
    field: 'since',
    text: (since) => formatDuration(now.getTime() - Date.parse(String(since))),
  },
  { title: 'unit', field: 'unit', wide: true },
  { title: 'reason', field: 'reason', wide: true },
];

export const status: Command = {
  path: ['status'],
  group: 'bootstrap',
  summary: 'Show the local services and the bootstrap cluster of this host',
  description:
    'For each service: its state, version, address, size of its data and since when. Healthy means that it was asked over HTTPS, as other hosts ask it, and answered. For the bootstrap cluster: its API server, its node, and the managers of Cluster API with the provider of bke (root only); then the clusters that were made from here. Exit code 1 where something that should run does not; `bke help scripts` tells what a script can rely on.',
  examples: [
    { command: 'bke status', says: 'one line per service' },
    { command: 'bke status -o wide', says: 'also units, and why a service is not healthy' },
    { command: 'bke status -o json', says: 'the same for programs, and what was loaded and who signed it' },
  ],
  output: ['table', 'wide', 'json', 'yaml', 'name'],
  list: true,
  run: async (context) => {
    const { readStatus } = await import('../tasks/services/status.ts');
    const { clusterStatus } = await import('../tasks/bootstrap-cluster/status.ts');
    const { besideInit, isTold, readRunning, runningLine } = await import('./running.ts');
    const host = await context.openLocalHost();
    try {
      const running = await readRunning(context, host);
      if (running !== undefined) context.note(runningLine(running, context.now()));
      const found = await readStatus(host);
      const columns = columnsAt(context.now());
      if (found === undefined) {
        const empty = running?.command === 'bke init' ? 'Nothing stands here yet.' : await withoutServices(host);
        return {
          kind: 'list',
          items: [],
          about: { bundle: null, running: running ?? null, clusters: [], certificateEnds: null },
          columns,
          empty,
        };
      }
      const items = [...found.services, ...(await clusterStatus(host, found.settings, { now: context.now() }))].map(
        (item) => besideInit(running, item),
      );
      noteTroubles(context, {
        content: found.content,
        items: items.filter(({ state }) => isTold(running, state)),
        running,
      });
      const certificateEnds = await noteCertificate(context, host);
      const clusters = await clustersOfSite(context, items);
      // null: no load came to its end; nobody is at work here.
      const about = { bundle: found.content?.bundle ?? null, running: running ?? null, clusters, certificateEnds };
      return { kind: 'list', items, about, columns, empty: notInitialised, exitCode: items.every(isHealthy) ? 0 : 1 };
    } finally {
      await host.close();
    }
  },
};

const notInitialised = 'This host is not initialised: it has no local services. bke init sets them up.';

/** Those that were made from here, and a line about them for a person. */
async function clustersOfSite(context: CommandContext, items: readonly ServiceStatus[]): Promise<readonly object[]> {
  if (!items.some(({ name, state }) => name === 'kubernetes' && state === 'healthy')) return [];
  const { clustersLine, siteClusters } = await import('./site-clusters.ts');
  const clusters = await siteClusters(context);
  if (clusters.length > 0) context.note(clustersLine(clusters));
  return clusters;
}

/** @returns RFC 3339; null where there is none */
async function noteCertificate(context: CommandContext, host: Host): Promise<string | null> {
  const { certificateEnd, certificateLine } = await import('../tasks/services/certificate-end.ts');
  const end = await certificateEnd(host);
  if (end === undefined) return null;
  const line = certificateLine(end, context.now());
  if (line !== undefined) context.note(line);
  return end.toISOString();
}

/** A host of a cluster has none, and needs none. */
async function withoutServices(host: Host): Promise<string> {
  const { claimLine, readClaim } = await import('../tasks/reset/claim.ts');
  const claim = await readClaim(host);
  if (claim === undefined) return notInitialised;
  return `This is no bootstrap node, but ${claimLine(claim)}. Its agent: systemctl status bke-agent. The rest is told there: bke host list.`;
}

function isHealthy({ state }: ServiceStatus): boolean {
  return state === 'healthy';
}

interface Standing {
  readonly content: ServicesStatus['content'];
  /** Whose troubles are told. */
  readonly items: readonly ServiceStatus[];
  readonly running: Running | undefined;
}

/** What a person has to know besides the table. What is about to come or to go is told by who is at it. */
function noteTroubles(context: CommandContext, { content, items, running }: Standing): void {
  for (const { name, state, reason } of items) {
    if (reason !== undefined) context.note(`${name} is ${state}: ${reason}`);
  }
  if (content === undefined) {
    if (running === undefined) context.note('The last bke init did not come to its end: run it again with its bundle.');
  } else if (content.bundle.signature !== 'trusted') {
    context.note(
      `The bundle ${content.bundle.name} ${content.bundle.version} is ${content.bundle.signature === 'unsigned' ? 'not signed' : 'signed by nobody trusted here'}.`,
    );
  }
}
