// What bke knows about a machine: the shape every reader of facts relies on. Sizes in bytes, times in ns as decimal text.
import { z } from 'zod';

const text = z.string().min(1);
const bytes = z.int().nonnegative();

const serviceState = z.strictObject({
  /** Without .service. */
  name: text,
  /** systemd's: active, inactive, failed, activating, … */
  active: text,
  /** systemd's: enabled, disabled, masked, static, …; absent where there is no unit file. */
  enabled: text.optional(),
});

const disk = z.strictObject({
  /** As asked for; it or its nearest existing parent was measured. */
  path: text,
  mount: text,
  device: text,
  /** As stat -f names it, e.g. ext2/ext3, xfs, btrfs, tmpfs, nfs. */
  type: text.optional(),
  sizeBytes: bytes,
  freeBytes: bytes,
  /** Absent where the file system has no fixed number of inodes. */
  freeInodes: bytes.optional(),
  readOnly: z.boolean(),
});

const listener = z.strictObject({
  protocol: z.enum(['tcp', 'udp']),
  /** 0.0.0.0, ::, * or one address. */
  address: text,
  port: z.int().min(1).max(65535),
  /** Absent where the host could not tell. */
  pid: z.int().positive().optional(),
  program: text.optional(),
});

const address = z.strictObject({
  link: text,
  family: z.enum(['inet', 'inet6']),
  address: text,
  prefix: z.int(),
  scope: text,
});
const link = z.strictObject({ name: text, up: z.boolean(), mtu: z.int().positive().optional(), mac: text.optional() });
const route = z.strictObject({
  destination: text,
  via: text.optional(),
  link: text.optional(),
  metric: z.int().optional(),
});

export const hostFactsSchema = z.strictObject({
  hostname: text,
  /** What the host's own name resolves to there; empty: it does not. */
  hostnameAddresses: z.array(text),
  machineId: text.optional(),
  bootId: text.optional(),
  os: z.strictObject({ id: text, version: text.optional(), name: text, like: z.array(text) }),
  /** amd64 and arm64 as Kubernetes spells them, anything else as uname has it. */
  arch: text,
  kernel: text,
  /** Of the account that ran the probe; 0 is root. */
  uid: z.int().nonnegative(),
  libc: z.strictObject({ kind: z.enum(['glibc', 'other']), version: text.optional() }),
  /** Highest GLIBCXX_ symbol version of libstdc++.so.6, e.g. 3.4.30; absent where the library is. */
  libstdcxx: text.optional(),
  systemd: z.strictObject({ version: z.int().positive().optional(), running: z.boolean() }),
  /** kvm, docker, …; absent on bare metal. */
  virtualization: text.optional(),
  cpus: z.int().positive(),
  memoryBytes: bytes,
  memoryAvailableBytes: bytes.optional(),
  swap: z.array(z.strictObject({ name: text, sizeBytes: bytes })),
  disks: z.array(disk),
  cgroup: z.strictObject({ version: z.enum(['1', '2', 'hybrid', 'none']), controllers: z.array(text) }),
  /** unknown: the host has no list of its kernel's modules. */
  modules: z.record(text, z.enum(['loaded', 'builtin', 'available', 'missing', 'unknown'])),
  fileSystems: z.array(text),
  /** By name with dots, e.g. net.ipv4.ip_forward. */
  sysctl: z.record(text, z.string()),
  addresses: z.array(address),
  links: z.array(link),
  routes: z.array(route),
  resolver: z.strictObject({
    /** What /etc/resolv.conf is in the end; absent where it is missing or a dangling link. */
    file: text.optional(),
    nameservers: z.array(text),
    search: z.array(text),
    /** The file behind a local stub resolver, where there is one. */
    upstreamFile: text.optional(),
    /** Those of that file. */
    upstreamNameservers: z.array(text),
  }),
  listeners: z.array(listener),
  services: z.array(serviceState),
  /** Container and Kubernetes programs that run, with or without a unit. */
  processes: z.array(z.strictObject({ pid: z.int().positive(), name: text })),
  /** Paths of Kubernetes, container runtimes or bke that exist; entries: of a directory, 1 for a file. */
  traces: z.array(z.strictObject({ path: text, entries: z.int().nonnegative() })),
  selinux: z.strictObject({ mode: z.enum(['enforcing', 'permissive', 'disabled']), policyPackage: text.optional() }),
  apparmor: z.boolean(),
  /** What the kernel does with packets no rule of the INPUT chain takes; absent where no table is in use or nft is not there to ask. */
  inputPolicy: z.enum(['accept', 'drop']).optional(),
  /** The clock is kept by a time service, as systemd tells it; absent where it does not. */
  clockSynchronized: z.boolean().optional(),
  /** Path by name, of those that were asked for and are there. */
  tools: z.record(text, text),
  bke: z.strictObject({ path: text, version: text.optional() }).optional(),
  /** Proxy settings in files, logins taken out. */
  proxies: z.array(z.strictObject({ file: text, line: text })),
  /** What bke itself put there, told by its mark in units and the folder of its programs. */
  own: z.strictObject({
    /** Services without .service. */
    units: z.array(text),
    /** Its processes, those of its services, and all that they started. */
    pids: z.array(z.int().positive()),
  }),
  clock: z.strictObject({
    /** The host's clock minus the clock of who asked, the way there and back taken out; positive: the host is ahead. */
    offsetMs: z.number(),
    /** The offset is right within this. */
    uncertaintyMs: z.number().nonnegative(),
  }),
});

export type HostFacts = z.infer<typeof hostFactsSchema>;
