// The test bed as tests use it: hosts, the egress sink, scans and releases.
import { currentBed } from './hosts/bed.ts';
import { type TestHost, testHost } from './hosts/host.ts';
import { type EgressSink, openSink } from './hosts/sink.ts';
import { downHosts, ownHosts, type UpOptions, upHosts } from './hosts/lifecycle.ts';
import { ensurePackages } from './packages.ts';

export type { EgressAttempt, EgressSink } from './hosts/sink.ts';
export type { TestHost } from './hosts/host.ts';
export { type ClusterFileOptions, type FileHost, clusterFile, siteKeyFile } from './cluster-file.ts';
export { initOptions, prepareHosts, prepareSite } from './prepare.ts';
export { type Release, makeRelease } from './release/bundle.ts';
export type { RunResult } from './run.ts';
export { type Scan, scanMachine } from './scan.ts';
export { diffScans } from './scan-diff.ts';

// Modes of files on hosts and in the cache are the ones that are written in the code, whatever umask the user has.
process.umask(0o022);

/** Boots fresh hosts of these names; they end with `stopHosts`, or are cleared by the next run when this one is killed. */
export async function startHosts(names: readonly string[], options: UpOptions = {}): Promise<TestHost[]> {
  await ensurePackages();
  const bed = currentBed();
  const records = await upHosts(bed, names, options);
  return Promise.all(records.map((record) => testHost(bed, record)));
}

/** Removes every host that this process started, and all they left on this machine. */
export async function stopHosts(): Promise<void> {
  const bed = currentBed();
  await downHosts(bed, await ownHosts(bed));
}

/** Records every packet that hosts of the bed send to an address outside its network, from now on. */
export async function egressSink(): Promise<EgressSink> {
  return openSink(currentBed());
}
