// What `bke init` is about to do, in the words of its options: shown before anything is asked or done. It holds no secret.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { listedShort } from '../../lib/text.ts';
import type { Bundle } from '../../release/bundle/open.ts';
import type { ContentRecord } from '../../tasks/services/records.ts';
import type { InitSettings } from './settings.ts';

export interface Parameters {
  readonly settings: InitSettings;
  readonly content: ContentRecord;
  readonly bundle: Bundle | undefined;
}

/** Lines of `name  value  (where it comes from)`. */
export function parameterLines({ settings: { settings, sources }, content, bundle }: Parameters): string[] {
  const from = (field: string): string => sources[field] ?? 'default';
  const { ports } = settings;
  const loaded = bundle === undefined ? 'the last init' : 'bundle';
  const rows: [string, string, string][] = [
    ['bundle', bundleText(content, bundle), bundle === undefined ? 'the last init' : bundle.path],
    ['host IP', settings.hostIP, from('hostIP')],
    ['site name', settings.domain, from('domain')],
    ['data directory', settings.dataDir, from('dataDir')],
    ['registry port', String(ports.registry), from('ports.registry')],
    ['registry push port', pushText(settings), from('ports.registryPush')],
    ['file port', String(ports.files), from('ports.files')],
    ['chart port', String(ports.charts), from('ports.charts')],
    ['Kubernetes port', `${ports.kubernetes} (kept free)`, from('ports.kubernetes')],
    ['UI port', `${ports.ui} (kept free)`, from('ports.ui')],
    ['containerd', `${content.programs.containerd.version}${settingsText(settings)}`, from('containerd')],
    ['sandbox image', content.sandboxImage, loaded],
    ['mirrored', listedShort(content.registries, 4), loaded],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value, source]) => `  ${name.padEnd(width)}  ${value}  (${source})`);
}

function bundleText(
  { bundle: { name, version, signature, kubernetesVersions } }: ContentRecord,
  bundle: Bundle | undefined,
): string {
  const size = bundle === undefined ? '' : `, ${formatBytes(bundle.size)}`;
  const signed = { trusted: 'signature trusted', unsigned: 'NOT SIGNED', untrusted: 'signed by nobody trusted here' }[
    signature
  ];
  const kubernetes = kubernetesVersions.length === 0 ? '' : `, Kubernetes ${kubernetesVersions.join(', ')}`;
  return `${name} ${version}${kubernetes}${size}, ${signed}`;
}

function pushText({ ports, pushOpen }: BootstrapSettings): string {
  return `${ports.registryPush} (${pushOpen ? 'from every machine' : 'from this machine only'})`;
}

function settingsText({ containerd }: BootstrapSettings): string {
  return Object.keys(containerd).length === 0 ? '' : ', with settings of its own';
}
