// What can be made of a cluster.yaml that may have mistakes: the fields that are right, so that what holds between them is checked all the same.
import { z } from 'zod';
import { clusterFile, type HostFile, hostFile, type HostRole } from './file.ts';
import { loginFields, type SshFile, sshFile } from './ssh-file.ts';

export interface HostSketch {
  readonly index: number;
  readonly name: string | undefined;
  /** Also where it cannot be a name. */
  readonly writtenName: string | undefined;
  readonly address: string | undefined;
  readonly nodeIP: string | undefined;
  readonly roles: readonly HostRole[] | undefined;
  readonly taints: HostFile['taints'];
  readonly ssh: SshSketch;
}

/** Without the fields that are wrong. */
export interface SshSketch extends SshFile {
  /** A way to log in is there, but wrong. */
  readonly wrongLogin: boolean;
}

type Spec = z.infer<typeof clusterFile>['spec'];

export interface ClusterSketch {
  readonly endpoint: Partial<NonNullable<Spec['controlPlaneEndpoint']>>;
  readonly loadBalancer: Spec['loadBalancer'];
  readonly network: Partial<NonNullable<Spec['network']>>;
  readonly registry: Partial<NonNullable<Spec['registry']>>;
  readonly ntp: readonly string[];
  readonly defaultSsh: SshSketch;
  readonly hosts: readonly HostSketch[];
  readonly addonNames: readonly (string | undefined)[];
  /** Whether every host's roles could be read. */
  readonly rolesKnown: boolean;
}

const spec = clusterFile.shape.spec.shape;
const partial = {
  endpoint: spec.controlPlaneEndpoint.unwrap().partial(),
  network: spec.network.unwrap().partial(),
  registry: spec.registry.unwrap().partial(),
  host: hostFile.partial(),
  ssh: sshFile.partial(),
};

export function sketchOf(raw: unknown): ClusterSketch {
  const given = fieldOf(raw, 'spec');
  const hosts = listOf(fieldOf(given, 'hosts')).map(hostSketch);
  return {
    endpoint: fitting(fieldOf(given, 'controlPlaneEndpoint'), partial.endpoint),
    loadBalancer: fit(spec.loadBalancer, fieldOf(given, 'loadBalancer')),
    network: fitting(fieldOf(given, 'network'), partial.network),
    registry: fitting(fieldOf(given, 'registry'), partial.registry),
    ntp: fit(spec.ntp, fieldOf(given, 'ntp')) ?? [],
    defaultSsh: sshSketch(fieldOf(fieldOf(given, 'defaults'), 'ssh')),
    hosts,
    addonNames: listOf(fieldOf(given, 'addons')).map((addon) => textOf(fieldOf(addon, 'name'))),
    rolesKnown: hosts.length > 0 && hosts.every(({ roles }) => roles !== undefined),
  };
}

function hostSketch(raw: unknown, index: number): HostSketch {
  const { name, address, nodeIP, roles, taints } = fitting(raw, partial.host);
  const writtenName = textOf(fieldOf(raw, 'name'));
  return { index, name, writtenName, address, nodeIP, roles, taints, ssh: sshSketch(fieldOf(raw, 'ssh')) };
}

function sshSketch(raw: unknown): SshSketch {
  const found = fitting(raw, partial.ssh);
  return {
    ...found,
    wrongLogin: loginFields.some((name) => fieldOf(raw, name) !== undefined && found[name] === undefined),
  };
}

/** The fields of a mapping that fit. @param schema one whose fields may all be absent. */
function fitting<Schema extends z.ZodObject>(raw: unknown, schema: Schema): z.infer<Schema> {
  const found = Object.entries(schema.shape).flatMap(([name, field]) => {
    const parsed = z.safeParse(field, fieldOf(raw, name));
    return parsed.success && parsed.data !== undefined ? [[name, parsed.data] as const] : [];
  });
  // oxlint-disable-next-line no-unsafe-type-assertion -- each field is one that its schema gave back; all of them once more would double the time
  return Object.fromEntries(found) as z.infer<Schema>;
}

function fit<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> | undefined {
  return schema.safeParse(value).data;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
