// Settings of `bke init`: from options, bootstrap.yaml, the last init and defaults, in this order; checked all at once.
import { isIP } from 'node:net';
import { z } from 'zod';
import { contains, parseCidr } from '../lib/cidr.ts';
import { isDnsName } from '../lib/dns-name.ts';
import { truncate } from '../lib/text.ts';
import { apiVersionField } from './api-version.ts';
import { dataDirProblem } from './directories.ts';
import { type ClusterNetworks, networkProblems } from './networks.ts';
import { type NodeSettings, nodeSettingsFile, noNodeSettings } from './node-settings.ts';
import type { Problem } from './problem.ts';

export const portNames = ['registry', 'registryPush', 'files', 'charts', 'kubernetes', 'ui'] as const;
export type PortName = (typeof portNames)[number];
export type Ports = Readonly<Record<PortName, number>>;

/** What people call them. */
const portTitles: Readonly<Record<PortName, string>> = {
  registry: 'registry port',
  registryPush: 'registry push port',
  files: 'file port',
  charts: 'chart port',
  kubernetes: 'Kubernetes port',
  ui: 'UI port',
};

/** openFuyao's ports where it has the service (40443, 40080, 38080, 36443, 30010), so that its firewall rules and guides hold. */
export const defaultPorts: Ports = {
  registry: 40_443,
  registryPush: 40_444,
  files: 40_080,
  charts: 38_080,
  kubernetes: 36_443,
  ui: 30_010,
};
/** `internal` is the top-level domain reserved for private use: it can never be somebody's on the internet. */
const defaultDomain = 'deploy.bke.internal';
const defaultDataDir = '/var/lib/bke/services';

/** none: local services and containerd only. */
export const bootstrapKinds = ['k3s', 'kubeadm', 'none'] as const;
export type BootstrapChoice = (typeof bootstrapKinds)[number];

/** Of the bootstrap cluster only. Shared address space (RFC 6598): no site's own network, so that an overlap is unlikely. */
const defaultNetworks: ClusterNetworks = { podCIDR: '100.72.0.0/16', serviceCIDR: '100.73.0.0/16' };

export interface BootstrapSettings {
  /** Address of this host that the other hosts reach it by. */
  readonly hostIP: string;
  /** The site name of the local services. */
  readonly domain: string;
  readonly ports: Ports;
  /** Whether pushes are taken from other machines; else the push port listens on loopback only. */
  readonly pushOpen: boolean;
  /** Registry store, files and charts. */
  readonly dataDir: string;
  /** What the bootstrap cluster is made by. */
  readonly bootstrap: BootstrapChoice;
  /** Of the bootstrap cluster. */
  readonly network: ClusterNetworks;
  /** Reach the programs of this host's node as they are. */
  readonly settings: NodeSettings;
}

const port = z.int('must be a whole number').min(1, 'must be 1 to 65535').max(65_535, 'must be 1 to 65535');

/** A field of the design that this bke does not have yet: refused rather than ignored. */
const notYet = (instead: string) =>
  z.custom<undefined>((value) => value === undefined, `is not supported yet: ${instead}`).optional();

/** bootstrap.yaml (docs/guide/local-services.md), as far as this bke uses it. */
export const bootstrapFile = z.strictObject({
  apiVersion: apiVersionField,
  kind: z.literal('Bootstrap', 'must be Bootstrap'),
  metadata: z.looseObject({}).optional(),
  spec: z
    .strictObject({
      bundle: z.string().optional(),
      hostIP: z.string().optional(),
      domain: z.string().optional(),
      ports: z.strictObject(Object.fromEntries(portNames.map((name) => [name, port.optional()]))).optional(),
      dataDir: z.string().optional(),
      bootstrap: z.enum(bootstrapKinds).optional(),
      network: z.strictObject({ podCIDR: z.string().optional(), serviceCIDR: z.string().optional() }).optional(),
      settings: nodeSettingsFile.optional(),
      // There is no web UI yet: who does not want it has what is wanted, who does is told.
      ui: z.boolean('must be true or false').optional(),
      registry: notYet(
        "the registry of this host serves the site; a cluster's own is spec.registry of its cluster.yaml",
      ),
      ntp: notYet("set the time service of this host yourself; a cluster's own is spec.ntp of its cluster.yaml"),
    })
    .default({}),
});
export type BootstrapFile = z.infer<typeof bootstrapFile>;

const specFields = bootstrapFile.shape.spec.unwrap().shape;
/** Fields that are told and used one by one. */
const nested = {
  ports: specFields.ports.unwrap().shape,
  network: specFields.network.unwrap().shape,
  settings: specFields.settings.unwrap().shape,
};

/** The fields of a file with mistakes that are right themselves, so that mistakes in their values are told with the others. */
export function readableSpec(raw: unknown): BootstrapFile['spec'] {
  const spec = fieldOf(raw, 'spec');
  const parts = Object.entries(nested).map(([name, shape]) => [name, fieldsThatFit(fieldOf(spec, name), shape)]);
  return bootstrapFile.shape.spec.parse({ ...fieldsThatFit(spec, specFields), ...Object.fromEntries(parts) });
}

function fieldsThatFit(raw: unknown, shape: Readonly<Record<string, z.ZodType>>): Record<string, unknown> {
  const found = Object.entries(shape).map(([name, schema]) => [name, schema.safeParse(fieldOf(raw, name))] as const);
  return Object.fromEntries(found.flatMap(([name, parsed]) => (parsed.success ? [[name, parsed.data]] : [])));
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Where a value was given, for messages. */
export type Placing = (field: string) => Pick<Problem, 'at' | 'field'>;

/** One place values come from. Later layers yield to earlier ones. */
export interface SettingsLayer {
  /** For messages: 'bootstrap.yaml', 'the last init', … */
  readonly source: string;
  /** Default: the source and the field. */
  readonly place?: Placing | undefined;
  readonly hostIP?: string | undefined;
  readonly domain?: string | undefined;
  readonly ports?: Partial<Ports> | undefined;
  readonly pushOpen?: boolean | undefined;
  readonly dataDir?: string | undefined;
  readonly bootstrap?: BootstrapChoice | undefined;
  readonly network?: { readonly [Field in keyof ClusterNetworks]?: string | undefined } | undefined;
  readonly settings?: PartialNodeSettings | undefined;
}

type PartialNodeSettings = {
  readonly [Field in Exclude<keyof NodeSettings, 'kubeadm'>]?: NodeSettings[Field] | undefined;
} & {
  readonly kubeadm?: { readonly ignorePreflightErrors?: readonly string[] | undefined } | undefined;
};

export interface EffectiveSettings {
  readonly settings: BootstrapSettings;
  /** Field -> the layer it came from; ports as `ports.<name>`. */
  readonly sources: Readonly<Record<string, string>>;
  /** Where a field's value was given, in words for people. */
  readonly placeOf: (field: string) => string;
  readonly problems: readonly Problem[];
}

/** The first layer that has a value wins, field by field. The last layer must have all of them. */
export function effectiveSettings(
  layers: readonly SettingsLayer[],
  hostAddresses: readonly string[],
): EffectiveSettings {
  const from = new Map<string, SettingsLayer>();
  const pick: PickValue = (field, read, fallback) => {
    for (const layer of layers) {
      const value = read(layer);
      if (value === undefined) continue;
      from.set(field, layer);
      return value;
    }
    return fallback;
  };
  const ports = Object.fromEntries(
    portNames.map((name) => [name, pick(`ports.${name}`, (layer) => layer.ports?.[name], defaultPorts[name])]),
  );
  const settings: BootstrapSettings = {
    hostIP: pick('hostIP', (layer) => layer.hostIP, ''),
    domain: pick('domain', (layer) => layer.domain, defaultDomain),
    ports: { ...defaultPorts, ...ports },
    pushOpen: pick('pushOpen', (layer) => layer.pushOpen, false),
    dataDir: pick('dataDir', (layer) => layer.dataDir, defaultDataDir),
    bootstrap: pick('bootstrap', (layer) => layer.bootstrap, 'k3s'),
    network: {
      podCIDR: pick('network.podCIDR', (layer) => layer.network?.podCIDR, defaultNetworks.podCIDR),
      serviceCIDR: pick('network.serviceCIDR', (layer) => layer.network?.serviceCIDR, defaultNetworks.serviceCIDR),
    },
    settings: nodeSettings(pick),
  };
  const rankOf = (field: string): number => {
    const layer = from.get(field);
    return layer === undefined ? layers.length : layers.indexOf(layer);
  };
  const place: Placing = (field) => {
    const layer = from.get(field);
    return layer?.place?.(field) ?? { at: layer?.source ?? 'default', field };
  };
  const problems = settingsProblems(settings, { hostAddresses, rankOf });
  return {
    settings,
    sources: Object.fromEntries([...from].map(([field, { source }]) => [field, source])),
    placeOf: (field) =>
      Object.values(place(field))
        .filter((part) => part !== '')
        .join(': '),
    problems: problems.map(({ field, message }) => ({ ...place(field), message })),
  };
}

type PickValue = <T>(field: string, read: (layer: SettingsLayer) => T | undefined, fallback: T) => T;

/** Each of them as a whole: what one file says of the kubelet is not mixed with what another says. */
function nodeSettings(pick: PickValue): NodeSettings {
  const { kubelet, kubeProxy, containerd, kubeadm, ignoreChecks } = noNodeSettings;
  return {
    kubelet: pick('settings.kubelet', ({ settings }) => settings?.kubelet, kubelet),
    kubeProxy: pick('settings.kubeProxy', ({ settings }) => settings?.kubeProxy, kubeProxy),
    containerd: pick('settings.containerd', ({ settings }) => settings?.containerd, containerd),
    kubeadm: {
      ignorePreflightErrors: pick(
        'settings.kubeadm.ignorePreflightErrors',
        ({ settings }) => settings?.kubeadm?.ignorePreflightErrors,
        kubeadm.ignorePreflightErrors,
      ),
    },
    ignoreChecks: pick('settings.ignoreChecks', ({ settings }) => settings?.ignoreChecks, ignoreChecks),
  };
}

type FieldProblem = Omit<Problem, 'at'>;

interface Judged {
  readonly hostAddresses: readonly string[];
  /** The smaller, the more it is the user's own word. */
  readonly rankOf: (field: string) => number;
}

function settingsProblems(settings: BootstrapSettings, { hostAddresses, rankOf }: Judged): FieldProblem[] {
  const dataDir = dataDirProblem(settings.dataDir);
  const blocks = blockProblems(settings.network, rankOf);
  const isTold = ({ field }: FieldProblem): boolean => blocks.some((told) => told.field === field);
  return [
    ...addressProblems(settings.hostIP, hostAddresses),
    ...domainProblems(settings.domain),
    ...portProblems(settings.ports, rankOf),
    ...(dataDir === undefined ? [] : [{ field: 'dataDir', message: dataDir }]),
    ...blocks,
    ...ownAddressProblems(settings).filter((problem) => !isTold(problem)),
  ];
}

/** Of two that overlap, the one is blamed that was chosen, not the default it runs into. */
function blockProblems(network: ClusterNetworks, rankOf: Judged['rankOf']): FieldProblem[] {
  const given = rankOf('network.podCIDR') < rankOf('network.serviceCIDR') ? 'podCIDR' : 'serviceCIDR';
  return networkProblems(network, given).map(({ field, message }) => ({ field: `network.${field}`, message }));
}

/** The address may have been found: then the block is what can be chosen. */
function ownAddressProblems({ hostIP, network }: BootstrapSettings): FieldProblem[] {
  return Object.entries(network).flatMap(([field, text]) => {
    const block = parseCidr(text);
    return block !== undefined && contains(block, hostIP)
      ? [{ field: `network.${field}`, message: `${block.text} has the address of this host in it, ${hostIP}` }]
      : [];
  });
}

function addressProblems(hostIP: string, hostAddresses: readonly string[]): FieldProblem[] {
  const field = 'hostIP';
  if (hostIP === '') return [];
  if (isIP(hostIP) === 0) return [{ field, message: `${truncate(hostIP, 40)} is no IP address` }];
  if (hostAddresses.includes(hostIP)) return [];
  return [{ field, message: `${hostIP} is no address of this host, which has ${hostAddresses.join(', ') || 'none'}` }];
}

function domainProblems(domain: string): FieldProblem[] {
  if (isIP(domain) !== 0)
    return [
      { field: 'domain', message: 'must be a name, not an address: the services can move to another host under it' },
    ];
  if (isDnsName(domain, 2)) return [];
  return [{ field: 'domain', message: `${truncate(domain, 40)} is no DNS name of two or more lower-case labels` }];
}

function portProblems(ports: Ports, rankOf: Judged['rankOf']): FieldProblem[] {
  const range = portNames.filter((name) => !Number.isInteger(ports[name]) || ports[name] < 1 || ports[name] > 65_535);
  const invalid = range.map((name) => ({ field: `ports.${name}`, message: 'must be 1 to 65535' }));
  return [...invalid, ...portNames.flatMap((name, index) => takenProblem(ports, { name, index }, rankOf))];
}

/** Of two that are the same, the one is blamed that was chosen, not the default it runs into. */
function takenProblem(
  ports: Ports,
  { name, index }: { readonly name: PortName; readonly index: number },
  rankOf: Judged['rankOf'],
): FieldProblem[] {
  const first = portNames.slice(0, index).find((other) => ports[other] === ports[name]);
  if (first === undefined) return [];
  const [blamed, other] = rankOf(`ports.${first}`) < rankOf(`ports.${name}`) ? [first, name] : [name, first];
  return [{ field: `ports.${blamed}`, message: `${ports[name]} is also the ${portTitles[other]}` }];
}
