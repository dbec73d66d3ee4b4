// Container runtimes and Kubernetes on a host, ours told from those of others: files that bke wrote say so in their first line.
import type { Host } from '../../host/host.ts';
import { programOutput } from '../../host/state/program.ts';
import { parseUnits } from '../../host/state/units.ts';
import type { RuntimeFound } from './machine.ts';

const units = ['containerd', 'docker', 'crio', 'kubelet', 'k3s', 'k3s-agent', 'rke2-server', 'rke2-agent'].map(
  (name) => `${name}.service`,
);
const manifests = '/etc/kubernetes/manifests';
export const ownMark = '# Written by bke';

export async function readRuntimes(host: Host): Promise<RuntimeFound[]> {
  const properties = 'Id,LoadState,ActiveState,UnitFileState,FragmentPath';
  const text = await programOutput(host, ['systemctl', 'show', `--property=${properties}`, '--', ...units]);
  const found = await Promise.all(
    parseUnits(text ?? '').map(async ({ name, active, fragment }) => ({
      what: `${name} (${active})`,
      ours: await isOurs(host, fragment),
    })),
  );
  const pods = (await host.files.list(manifests)).filter((name) => /\.(ya?ml|json)$/.test(name));
  return pods.length === 0
    ? found
    : [...found, { what: `a control plane's manifests in ${manifests} (${pods.join(', ')})`, ours: false }];
}

async function isOurs(host: Host, path: string): Promise<boolean> {
  if (path === '') return false;
  const text = await host.files.read(path).catch(() => undefined);
  return text?.toString('utf8').startsWith(ownMark) === true;
}
