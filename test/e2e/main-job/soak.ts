// Twenty clusters, one after another on the same hosts, each made while its agents, the controller and a host die at other moments.
import { describe, expect, it } from 'vitest';
import { createDespite, killsOf, told } from './create.ts';
import { clusterName, type MainJob } from './job.ts';

const firstSeed = 3;
const lastSeed = 20;

/** Registers the tests; seeds 1 and 2 are in every run of the main job. */
export function soakTests(job: () => MainJob): void {
  const seeds = Array.from({ length: lastSeed - firstSeed + 1 }, (_, index) => firstSeed + index);
  describe.each(seeds)('seed %i', (seed) => {
    const kills = killsOf(seed);

    it('deletes the cluster, and its hosts are free and clean', async () => {
      await job().management(`-n bke delete cluster ${clusterName} --timeout=300s`);
      // A new pod: a kubelet lets one that died so many times in an hour wait up to five minutes.
      await job().management('-n bke-system delete pods --all');
      const rows = await job().management(
        `-n bke get bkehosts -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.consumerRef.name} {.status.conditions[?(@.type=="Clean")].status}{"\\n"}{end}'`,
      );
      expect(rows.trim().split('\n')).toEqual(['cp1  True', 'w1  True', 'w2  True']);
    });

    it(`makes it again (${kills.map(told).join(', ')})`, async () => {
      await createDespite(job(), kills);
      const { stdout } = await job().done('cluster list');
      expect(stdout).toMatch(/^prod +Healthy +1\/1 +2\/2 /m);
    });
  });
}
