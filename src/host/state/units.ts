// systemd units that Kubernetes or bke run on a host.
import type { Host } from '../host.ts';
import { readUnits, unitFolder, type UnitState } from '../systemd.ts';

/** kubelet and K3s start pods and mount volumes again: they are stopped before everything else. */
export const nodeUnits = ['kubelet.service', 'k3s.service', 'k3s-agent.service'] as const;

export type KnownUnit = Pick<UnitState, 'name' | 'active' | 'enabled'>;

async function bkeUnitNames(host: Host): Promise<string[]> {
  return (await host.files.list(unitFolder)).filter((name) => /^bke-[a-z-]+\.service$/.test(name));
}

/** kubelet, K3s, containerd and bke's units as systemd sees them; none where systemd doesn't run. */
export async function readKnownUnits(host: Host, more: readonly string[] = []): Promise<KnownUnit[]> {
  const names = new Set([...nodeUnits, 'containerd.service', ...(await bkeUnitNames(host)), ...more]);
  return readUnits(host, [...names]);
}
