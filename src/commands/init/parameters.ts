// What `bke init` is about to do, in the words of its options: shown before anything is asked or done. It holds no secret.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { listedShort } from '../../lib/text.ts';
import type { Bundle } from '../../release/bundle/open.ts';
import type { BootstrapCluster } from '../../tasks/bootstrap-cluster/bootstrap-cluster.ts';
import { programArtifact, registriesOf, sandboxImage } from '../../tasks/services/content.ts';
import type { ContentRecord } from '../../tasks/services/records.ts';
import type { InitContent } from './content.ts';
import type { InitSettings } from './settings.ts';

export interface Parameters {
  readonly settings: InitSettings;
  readonly content: InitContent;
  readonly cluster: BootstrapCluster | undefined;
}

type Row = readonly [name: string, value: string, source: string];

/** Lines of `name  value  (where it comes from)`. */
export function parameterLines(parameters: Parameters): string[] {
  const { settings, sources } = parameters.settings;
  const { content, bundle } = parameters.content;
  const from = (field: string): string => sources[field] ?? 'default';
  const { ports } = settings;
  const rows: Row[] = [
    ['bundle', bundleText(content, bundle), bundle === undefined ? 'the last init' : bundle.path],
    ['host IP', settings.hostIP, from('hostIP')],
    ['site name', settings.domain, from('domain')],
    ['data directory', settings.dataDir, from('dataDir')],
    ['registry port', String(ports.registry), from('ports.registry')],
    ['registry push port', pushText(settings), from('ports.registryPush')],
    ['file port', String(ports.files), from('ports.files')],
    ['chart port', String(ports.charts), from('ports.charts')],
    ['UI port', `${ports.ui} (kept free)`, from('ports.ui')],
    ...clusterRows(parameters, from),
    ...runtimeRows(parameters, from),
    ['mirrored', listedShort(registriesOf(content.catalogue), 4), loadedBy(parameters)],
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

/** Where what was loaded comes from. */
function loadedBy({ content }: Parameters): string {
  return content.bundle === undefined ? 'the last init' : 'bundle';
}

function clusterRows({ settings: { settings }, cluster }: Parameters, from: (field: string) => string): Row[] {
  const port = String(settings.ports.kubernetes);
  if (cluster === undefined) {
    return [
      ['bootstrap cluster', 'none', from('bootstrap')],
      ['Kubernetes port', `${port} (kept free)`, from('ports.kubernetes')],
    ];
  }
  const { podCIDR, serviceCIDR } = settings.network;
  return [
    ['bootstrap cluster', `${cluster.kind}, Kubernetes ${cluster.version}`, from('bootstrap')],
    ['Kubernetes port', port, from('ports.kubernetes')],
    ['pod addresses', podCIDR, from('network.podCIDR')],
    ['service addresses', serviceCIDR, from('network.serviceCIDR')],
    ...ownSettings(['kubelet', 'kubeProxy'], settings, from),
  ];
}

/** Only where there are any. */
function ownSettings(
  names: readonly ('kubelet' | 'kubeProxy')[],
  { settings }: BootstrapSettings,
  from: (field: string) => string,
): Row[] {
  const titles = { kubelet: 'kubelet', kubeProxy: 'kube-proxy' };
  return names.flatMap((name): Row[] => {
    const fields = Object.keys(settings[name]);
    return fields.length === 0 ? [] : [[titles[name], `with own ${fields.join(', ')}`, from(`settings.${name}`)]];
  });
}

/** K3s brings its own. */
function runtimeRows(parameters: Parameters, from: (field: string) => string): Row[] {
  const { settings } = parameters.settings;
  const { catalogue } = parameters.content.content;
  const content = { catalogue, platform: parameters.content.platform };
  if (settings.bootstrap === 'k3s') return [];
  const { version } = programArtifact(content, '', 'containerd');
  return [
    ['containerd', `${version}${settingsText(settings)}`, from('settings.containerd')],
    ['sandbox image', sandboxImage(content), loadedBy(parameters)],
  ];
}

function pushText({ ports, pushOpen }: BootstrapSettings): string {
  return `${ports.registryPush} (${pushOpen ? 'from every machine' : 'from this machine only'})`;
}

function settingsText({ settings }: BootstrapSettings): string {
  return Object.keys(settings.containerd).length === 0 ? '' : ', with settings of its own';
}
