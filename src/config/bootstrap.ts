// Settings of `bke init`: from options, bootstrap.yaml, the last init and defaults, in this order; checked all at once.
import { isAbsolute, normalize } from 'node:path';
import { isIP } from 'node:net';
import { z } from 'zod';
import { isDnsName } from '../lib/dns-name.ts';
import type { TomlTable, TomlValue } from '../lib/toml.ts';
import type { Problem } from './problem.ts';

export const portNames = ['registry', 'registryPush', 'files', 'charts', 'kubernetes', 'ui'] as const;
export type PortName = (typeof portNames)[number];
export type Ports = Readonly<Record<PortName, number>>;

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
  /** Merged into containerd's config.toml. */
  readonly containerd: TomlTable;
}

const port = z.int('must be a whole number').min(1, 'must be 1 to 65535').max(65_535, 'must be 1 to 65535');
const tomlValue: z.ZodType<TomlValue> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.array(tomlValue), z.record(z.string(), tomlValue)]),
);

/** bootstrap.yaml (docs/guide/local-services.md), as far as this bke uses it. */
export const bootstrapFile = z.strictObject({
  apiVersion: z.literal('bke.io/v1alpha1', 'must be bke.io/v1alpha1'),
  kind: z.literal('Bootstrap', 'must be Bootstrap'),
  metadata: z.looseObject({}).optional(),
  spec: z
    .strictObject({
      bundle: z.string().optional(),
      hostIP: z.string().optional(),
      domain: z.string().optional(),
      ports: z.strictObject(Object.fromEntries(portNames.map((name) => [name, port.optional()]))).optional(),
      dataDir: z.string().optional(),
      settings: z.strictObject({ containerd: z.record(z.string(), tomlValue).optional() }).optional(),
    })
    .default({}),
});
export type BootstrapFile = z.infer<typeof bootstrapFile>;

/** One place values come from. Later layers yield to earlier ones. */
export interface SettingsLayer {
  /** For messages: 'bootstrap.yaml', 'the last init', … */
  readonly source: string;
  readonly hostIP?: string | undefined;
  readonly domain?: string | undefined;
  readonly ports?: Partial<Ports> | undefined;
  readonly pushOpen?: boolean | undefined;
  readonly dataDir?: string | undefined;
  readonly containerd?: TomlTable | undefined;
}

export interface EffectiveSettings {
  readonly settings: BootstrapSettings;
  /** Field -> the layer it came from; ports as `ports.<name>`. */
  readonly sources: Readonly<Record<string, string>>;
  readonly problems: readonly Problem[];
}

/** The first layer that has a value wins, field by field. The last layer must have all of them. */
export function effectiveSettings(
  layers: readonly SettingsLayer[],
  hostAddresses: readonly string[],
): EffectiveSettings {
  const sources: Record<string, string> = {};
  const pick = <T>(field: string, read: (layer: SettingsLayer) => T | undefined, fallback: T): T => {
    for (const layer of layers) {
      const value = read(layer);
      if (value === undefined) continue;
      sources[field] = layer.source;
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
    containerd: pick('containerd', (layer) => layer.containerd, {}),
  };
  const problems = settingsProblems(settings, hostAddresses).map(({ field, message }) => ({
    at: sources[field] ?? 'default',
    field,
    message,
  }));
  return { settings, sources, problems };
}

type FieldProblem = Omit<Problem, 'at'>;

function settingsProblems(settings: BootstrapSettings, hostAddresses: readonly string[]): FieldProblem[] {
  return [
    ...addressProblems(settings.hostIP, hostAddresses),
    ...domainProblems(settings.domain),
    ...portProblems(settings.ports),
    ...dataDirProblems(settings.dataDir),
  ];
}

function addressProblems(hostIP: string, hostAddresses: readonly string[]): FieldProblem[] {
  const field = 'hostIP';
  if (hostIP === '') return [];
  if (isIP(hostIP) === 0) return [{ field, message: `${hostIP} is no IP address` }];
  if (hostAddresses.includes(hostIP)) return [];
  return [{ field, message: `${hostIP} is no address of this host, which has ${hostAddresses.join(', ') || 'none'}` }];
}

function domainProblems(domain: string): FieldProblem[] {
  if (isIP(domain) !== 0)
    return [
      { field: 'domain', message: 'must be a name, not an address: the services can move to another host under it' },
    ];
  if (isDnsName(domain, 2)) return [];
  return [{ field: 'domain', message: `${domain} is no DNS name of two or more lower-case labels` }];
}

function portProblems(ports: Ports): FieldProblem[] {
  const range = portNames.filter((name) => !Number.isInteger(ports[name]) || ports[name] < 1 || ports[name] > 65_535);
  const invalid = range.map((name) => ({ field: `ports.${name}`, message: 'must be 1 to 65535' }));
  const taken = portNames.flatMap((name, index) => {
    const first = portNames.slice(0, index).find((other) => ports[other] === ports[name]);
    return first === undefined
      ? []
      : [{ field: `ports.${name}`, message: `${ports[name]} is also the port of ${first}` }];
  });
  return [...invalid, ...taken];
}

/** Directories of the system: their attributes and what lies in them are not ours. */
const SYSTEM_DIRS = new Set(
  '/ /bin /boot /dev /etc /home /lib /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /var /var/lib /var/lib/bke /usr/local'.split(
    ' ',
  ),
);

function dataDirProblems(dataDir: string): FieldProblem[] {
  const field = 'dataDir';
  if (!isAbsolute(dataDir)) return [{ field, message: `${dataDir} is no absolute path` }];
  if (SYSTEM_DIRS.has(dataDir))
    return [{ field, message: `${dataDir} is a directory of the system: name one below it` }];
  if (normalize(dataDir) !== dataDir || dataDir.endsWith('/')) {
    return [{ field, message: `write ${normalize(dataDir).replace(/\/+$/, '') || '/'} instead of ${dataDir}` }];
  }
  if (!/^[A-Za-z0-9._/-]+$/.test(dataDir))
    return [{ field, message: 'may have letters, digits, dot, dash, underline and / only' }];
  if (/^\/(proc|sys|dev|run|tmp|root|home)\//.test(dataDir)) {
    return [{ field, message: `${dataDir} does not outlive a boot, or the services' user cannot reach it` }];
  }
  return [];
}
