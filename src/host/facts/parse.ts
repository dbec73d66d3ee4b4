// From the probe's lines to facts. What is read here is checked as a whole by the schema, so its readers give plain objects.
import { readNetwork } from './network.ts';
import { type HostFacts, hostFactsSchema } from './schema.ts';
import { Sections, wholeNumber, words } from './sections.ts';

/** ns since 1970 on the asking side, right before the probe was started and right after its answer was there. */
export interface AskedAt {
  readonly before: bigint;
  readonly after: bigint;
}

/** @throws Error (or zod's) where something is missing or not as it should be; see gatherFacts. */
export function parseFacts(output: string, asked: AskedAt): HostFacts {
  const sections = Sections.parse(output);
  return hostFactsSchema.parse({
    ...readSystem(sections),
    ...readKernel(sections),
    ...readNetwork(sections),
    ...readServices(sections),
    disks: readDisks(sections),
    tools: Object.fromEntries(sections.all('tool').map((line) => pair(line))),
    ...readBke(sections),
    own: {
      units: sections.all('ownUnit'),
      pids: sections.all('ownPids').flatMap(words).map(Number),
    },
    proxies: sections.all('proxy').map((line) => {
      const colon = line.indexOf(':');
      return { file: line.slice(0, colon), line: line.slice(colon + 1).trim() };
    }),
    clock: readClock(sections, asked),
  });
}

function readSystem(sections: Sections): object {
  const memory = new Map(sections.all('memory').map((line) => pair(line)));
  const virtualization = sections.one('virtualization');
  return {
    hostname: sections.need('hostname'),
    machineId: sections.one('machineId'),
    bootId: sections.one('bootId'),
    os: readOs(sections),
    arch: architectures[sections.need('arch')] ?? sections.need('arch'),
    kernel: sections.need('kernel'),
    uid: Number(sections.need('uid')),
    libc: readLibc(sections.one('libc') ?? ''),
    libstdcxx: readLibstdcxx(sections),
    systemd: readSystemd(sections),
    virtualization: virtualization === 'none' ? undefined : virtualization,
    cpus: Number(sections.need('cpus')),
    memoryBytes: kib(memory.get('MemTotal:')) ?? Number.NaN,
    memoryAvailableBytes: kib(memory.get('MemAvailable:')),
    swap: sections
      .all('swap')
      .slice(1)
      .map((line) => words(line))
      .map((fields) => ({ name: fields[0] ?? '', sizeBytes: Number(fields[2]) * 1024 })),
  };
}

function readLibstdcxx(sections: Sections): string | undefined {
  const byName = /\.6\.0\.(\d+)$/.exec(sections.one('libstdcxx') ?? '')?.[1];
  return highest(sections.all('glibcxx')) ?? (byName === undefined ? undefined : `3.4.${byName}`);
}

function readSystemd(sections: Sections): object {
  const version = /^systemd (\d+)/.exec(sections.one('systemd') ?? '')?.[1];
  const running = sections.has('systemdRunning');
  return version === undefined ? { running } : { version: Number(version), running };
}

const architectures: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' };

function readOs(sections: Sections): object {
  const values = new Map(
    sections.all('os').map((line) => {
      const equals = line.indexOf('=');
      return [line.slice(0, equals), line.slice(equals + 1).replaceAll(/^["']|["']$/g, '')];
    }),
  );
  const id = values.get('ID') ?? 'unknown';
  return {
    id,
    version: values.get('VERSION_ID') || undefined,
    name: values.get('PRETTY_NAME') || values.get('NAME') || id,
    like: words(values.get('ID_LIKE') ?? ''),
  };
}

/** `glibc 2.36` of getconf, or the first line of ldd --version, which also musl has. */
function readLibc(line: string): HostFacts['libc'] {
  const version = /(\d+\.\d+(?:\.\d+)?)\s*$/.exec(line)?.[1];
  const kind = /glibc|gnu libc|ldd \(/i.test(line) ? 'glibc' : 'other';
  return { kind, ...(version === undefined ? {} : { version }) };
}

/** Of GLIBCXX_3.4.9, GLIBCXX_3.4.30: 3.4.30. */
function highest(symbols: readonly string[]): string | undefined {
  const numbers = symbols.map((symbol) => Number(/^GLIBCXX_3\.4\.(\d+)$/.exec(symbol)?.[1] ?? -1));
  const most = Math.max(-1, ...numbers);
  return most < 0 ? undefined : `3.4.${most}`;
}

function readKernel(sections: Sections): object {
  const mounted = sections.all('cgroup');
  const kinds: Readonly<Record<string, HostFacts['cgroup']['version']>> = {
    cgroup2fs: '2',
    tmpfs: mounted.includes('hybrid') ? 'hybrid' : '1',
  };
  return {
    cgroup: {
      version: kinds[mounted[0]?.trim() ?? ''] ?? 'none',
      controllers: sections.all('controllers').flatMap(words),
    },
    modules: Object.fromEntries(sections.all('module').map((line) => pair(line))),
    fileSystems: sections.all('filesystem').map((line) => line.trim()),
    sysctl: Object.fromEntries(
      sections.all('sysctl').map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).replaceAll('/', '.'), line.slice(colon + 1).trim()];
      }),
    ),
  };
}

function readDisks(sections: Sections): object[] {
  const [blocks, inodes, types] = [sections.all('diskBlocks'), sections.all('diskInodes'), sections.all('diskType')];
  return sections.all('disk').map((path, index) => {
    // df -P: device, blocks, used, available, per cent, mount point; only the mount point may hold blanks.
    const [device = '', size, , free, , ...mount] = words(blocks[index] ?? '');
    const freeInodes = wholeNumber(words(inodes[index] ?? '')[3]);
    return {
      path,
      mount: mount.join(' '),
      device,
      type: types[index]?.trim() || undefined,
      sizeBytes: Number(size) * 1024,
      freeBytes: Number(free) * 1024,
      freeInodes: wholeNumber(words(inodes[index] ?? '')[1]) === 0 ? undefined : freeInodes,
      readOnly: sections.all('diskReadOnly').includes(path),
    };
  });
}

function readServices(sections: Sections): object {
  const policy = sections.one('selinuxPolicy');
  const synchronized = sections.one('synchronized');
  const input = /policy (accept|drop)/.exec(sections.one('inputChain') ?? '')?.[1];
  return {
    services: readUnits(sections.all('unit')),
    processes: sections.all('process').map((line) => ({ pid: Number(words(line)[0]), name: pair(line)[1] })),
    traces: sections.all('trace').map((line) => ({ entries: Number(words(line)[0]), path: pair(line.trimStart())[1] })),
    selinux: {
      mode: selinuxModes[sections.one('selinux') ?? ''] ?? 'disabled',
      policyPackage: policy,
    },
    apparmor: sections.one('apparmor') === 'Y',
    inputPolicy: input === 'accept' || input === 'drop' ? input : undefined,
    clockSynchronized: synchronized === undefined ? undefined : synchronized === 'yes',
  };
}

const selinuxModes: Readonly<Record<string, HostFacts['selinux']['mode']>> = { '1': 'enforcing', '0': 'permissive' };

/** Blocks of Name=value, an empty line between two; units the host does not have are left out. */
function readUnits(lines: readonly string[]): object[] {
  return lines
    .join('\n')
    .split('\n\n')
    .map(
      (block) =>
        new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])),
    )
    .filter((unit) => unit.get('LoadState') !== 'not-found' && unit.has('Id'))
    .map((unit) => ({
      name: (unit.get('Id') ?? '').replace(/\.service$/, ''),
      active: unit.get('ActiveState') ?? 'unknown',
      enabled: unit.get('UnitFileState') || undefined,
    }));
}

function readBke(sections: Sections): object {
  const path = sections.one('bke');
  if (path === undefined) return {};
  const version = /"version":\s*"([^"]+)"/.exec(sections.all('bkeVersion').join('\n'))?.[1];
  return { bke: { path, version } };
}

/** The probe takes its time at its beginning and its end; what lies outside of these two was the way there and back. */
function readClock(sections: Sections, asked: AskedAt): HostFacts['clock'] {
  const [start, end] = [BigInt(sections.need('timeStart')), BigInt(sections.need('timeEnd'))];
  // A clock that was set in the middle of the probe says nothing by its own difference.
  const spent = end > start && end - start < asked.after - asked.before ? end - start : 0n;
  const way = asked.after - asked.before - spent;
  const offset = start - (asked.before + way / 2n);
  return { offsetMs: Number(offset / 1000n) / 1000, uncertaintyMs: Number(way / 2000n) / 1000 };
}

/** The first word and the rest. */
function pair(line: string): [string, string] {
  const at = line.search(/\s/);
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at).trim()];
}

function kib(text: string | undefined): number | undefined {
  const amount = wholeNumber(words(text ?? '')[0]);
  return amount === undefined ? undefined : amount * 1024;
}
