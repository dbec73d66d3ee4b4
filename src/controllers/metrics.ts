// What the controllers tell about themselves in the form of Prometheus.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { SourceState } from './informers.ts';

/** How a reconcile ended; `requeued`: it asked to be called again. */
export type Outcome = 'success' | 'requeued' | 'error';

export interface Metrics {
  reconciled(controller: string, outcome: Outcome, seconds: number): void;
  running(controller: string, count: number): void;
  /** Asked for when the metrics are. */
  watchDepth(controller: string, depth: () => number): void;
  leads(leads: boolean): void;
  certificateEnds(certificate: CertificateName, end: Date | undefined): void;
  /** Work on a host over SSH, by its name: enrol, leave. */
  hostJob(name: string, outcome: 'done' | 'failed', seconds: number): void;
  /** How many hosts there are by the reason of their condition Available; asked for when the metrics are. */
  watchHosts(counts: () => ReadonlyMap<string, number>): void;
  /** How what is watched is followed; asked for when the metrics are. */
  watchSources(states: () => readonly SourceState[]): void;
  /** The text of all of them, and its media type. */
  render(): Promise<{ readonly type: string; readonly text: string }>;
}

/** A Secret that holds a certificate. */
export interface CertificateName {
  readonly namespace: string;
  readonly secret: string;
}

/** Seconds; from a look that finds nothing to do up to a chart that is installed. */
const durationBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const labelNames = ['controller'] as const;
  const total = new Counter({
    name: 'bke_controller_reconcile_total',
    help: 'Reconciles by how they ended.',
    labelNames: ['controller', 'outcome'] as const,
    registers,
  });
  const duration = new Histogram({
    name: 'bke_controller_reconcile_duration_seconds',
    help: 'How long reconciles took.',
    labelNames,
    buckets: durationBuckets,
    registers,
  });
  const running = new Gauge({
    name: 'bke_controller_reconciles_running',
    help: 'Reconciles that run now.',
    labelNames,
    registers,
  });
  const depths = new Map<string, () => number>();
  const depthNow = new Gauge({
    name: 'bke_controller_queue_depth',
    help: 'Keys that wait to be reconciled.',
    labelNames,
    registers,
  });
  const leader = new Gauge({
    name: 'bke_controller_leader',
    help: '1 where this process holds the lease and reconciles, 0 where it waits for it.',
    registers,
  });
  const ends = new Gauge({
    name: 'bke_certificate_expiry_timestamp_seconds',
    help: 'When certificates end, in seconds since 1970.',
    labelNames: ['namespace', 'secret'] as const,
    registers,
  });
  const jobs = new Histogram({
    name: 'bke_host_job_duration_seconds',
    help: 'How long work on hosts over SSH took, by how it ended.',
    labelNames: ['job', 'outcome'] as const,
    buckets: durationBuckets,
    registers,
  });
  let countHosts: () => ReadonlyMap<string, number> = () => new Map();
  const hosts = new Gauge({
    name: 'bke_hosts',
    help: 'Hosts by the reason of their condition Available.',
    labelNames: ['reason'] as const,
    registers,
  });
  let sources: () => readonly SourceState[] = () => [];
  const synced = new Gauge({
    name: 'bke_watch_synced',
    help: '1 where the copy of what is watched follows the cluster.',
    labelNames: ['source'] as const,
    registers,
  });
  const silent = new Gauge({
    name: 'bke_watch_last_event_age_seconds',
    help: 'Since the API server last said anything of what is watched; about a minute at most where all is well.',
    labelNames: ['source'] as const,
    registers,
  });
  return {
    reconciled: (controller, outcome, seconds) => {
      total.inc({ controller, outcome });
      duration.observe({ controller }, seconds);
    },
    running: (controller, count) => running.set({ controller }, count),
    watchDepth: (controller, depth) => depths.set(controller, depth),
    leads: (leads) => leader.set(leads ? 1 : 0),
    certificateEnds: ({ namespace, secret }, end) => {
      if (end === undefined) ends.remove({ namespace, secret });
      else ends.set({ namespace, secret }, end.getTime() / 1000);
    },
    hostJob: (job, outcome, seconds) => jobs.observe({ job, outcome }, seconds),
    watchHosts: (counts) => (countHosts = counts),
    watchSources: (states) => (sources = states),
    render: async () => {
      hosts.reset();
      for (const [reason, count] of countHosts()) hosts.set({ reason }, count);
      synced.reset();
      silent.reset();
      for (const { name: source, ...state } of sources()) {
        synced.set({ source }, state.synced ? 1 : 0);
        if (state.silentMs !== undefined) silent.set({ source }, state.silentMs / 1000);
      }
      for (const [controller, depth] of depths) depthNow.set({ controller }, depth());
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}
