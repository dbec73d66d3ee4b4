// systemd units that Kubernetes or bke run on a host.
import type { Host } from '../host.ts';
import { programOutput } from './program.ts';

export interface UnitState {
  readonly name: string;
  /** `active`, `inactive`, `failed`, `activating`, … */
  readonly active: string;
  /** `enabled`, `disabled`, `static`, …; empty where there is no file. */
  readonly enabled: string;
  /** Its unit file; empty where there is none. */
  readonly fragment: string;
}

export const unitFolder = '/etc/systemd/system';

/** kubelet and K3s start pods and mount volumes again: they are stopped before everything else. */
export const nodeUnits = ['kubelet.service', 'k3s.service', 'k3s-agent.service'] as const;

/** Parses `systemctl show` of several units with the properties Id, LoadState, ActiveState, UnitFileState and FragmentPath. */
export function parseUnits(text: string): UnitState[] {
  return text.split('\n\n').flatMap((block) => {
    const value = new Map(
      block.split('\n').flatMap((line) => {
        const at = line.indexOf('=');
        return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
      }),
    );
    const name = value.get('Id');
    const active = value.get('ActiveState') ?? 'inactive';
    if (name === undefined || (value.get('LoadState') === 'not-found' && active === 'inactive')) return [];
    return [{ name, active, enabled: value.get('UnitFileState') ?? '', fragment: value.get('FragmentPath') ?? '' }];
  });
}

async function bkeUnitNames(host: Host): Promise<string[]> {
  return (await host.files.list(unitFolder)).filter((name) => /^bke-[a-z-]+\.service$/.test(name));
}

/** kubelet, K3s, containerd and bke's units as systemd sees them; none where systemd doesn't run. */
export async function readUnits(host: Host, more: readonly string[] = []): Promise<UnitState[]> {
  const names = new Set([...nodeUnits, 'containerd.service', ...(await bkeUnitNames(host)), ...more]);
  const properties = ['Id', 'LoadState', 'ActiveState', 'UnitFileState', 'FragmentPath'];
  const text = await programOutput(host, ['systemctl', 'show', `--property=${properties.join(',')}`, '--', ...names]);
  return parseUnits(text ?? '');
}

export function isRunning(unit: UnitState): boolean {
  return unit.active !== 'inactive' && unit.active !== 'failed';
}
