// Addresses, links, routes, listeners and the resolver, from what ip, ss and /proc/net print.
import type { HostFacts } from './schema.ts';
import { type Sections, wholeNumber, words } from './sections.ts';

type Network = Pick<HostFacts, 'addresses' | 'links' | 'routes' | 'listeners' | 'resolver' | 'hostnameAddresses'>;

export function readNetwork(sections: Sections): Network {
  return {
    addresses: sections.all('address').flatMap(parseAddress),
    links: sections.all('link').flatMap(parseLink),
    routes: [...sections.all('route').flatMap(parseRoute), ...sections.all('procRoute').flatMap(parseProcRoute)],
    listeners: [...sections.all('socket').flatMap(parseSocket), ...sections.all('procSocket').flatMap(parseProcSocket)],
    resolver: readResolver(sections),
    hostnameAddresses: [...new Set(sections.all('hostnameAddress').flatMap((line) => words(line)[0] ?? []))],
  };
}

/** `4: eth0    inet 192.0.2.2/24 brd 192.0.2.255 scope global eth0\ …` */
function parseAddress(line: string): Network['addresses'] {
  const [, link, family, cidr, ...rest] = words(line);
  const [address, prefix] = (cidr ?? '').split('/');
  if (link === undefined || (family !== 'inet' && family !== 'inet6') || address === undefined || address === '')
    return [];
  return [
    {
      link,
      family,
      address,
      prefix: wholeNumber(prefix) ?? (family === 'inet' ? 32 : 128),
      scope: after(rest, 'scope') ?? 'global',
    },
  ];
}

/** `4: eth0@if7: <BROADCAST,UP> mtu 1400 … link/ether 02:fc:00:00:00:01 brd …` */
function parseLink(line: string): Network['links'] {
  const match = /^\d+: ([^:@\s]+)(?:@\S+)?: <([^>]*)>(.*)/.exec(line);
  if (match === null) return [];
  const [, name = '', flags = '', rest = ''] = match;
  const mtu = wholeNumber(after(words(rest), 'mtu'));
  const mac = after(words(rest.replaceAll('\\', ' ')), 'link/ether');
  return [
    {
      name,
      up: flags.split(',').includes('UP'),
      ...(mtu === undefined ? {} : { mtu }),
      ...(mac === undefined ? {} : { mac }),
    },
  ];
}

/** `default via 192.0.2.1 dev eth0 metric 100`; types other than unicast (blackhole, unreachable) lead nowhere and are left out. */
function parseRoute(line: string): Network['routes'] {
  const [destination, ...rest] = words(line);
  if (destination === undefined || !/^(?:default|[0-9a-fA-F][0-9a-fA-F:.]*(?:\/\d+)?|::.*)$/.test(destination))
    return [];
  const via = after(rest, 'via');
  const link = after(rest, 'dev');
  const metric = wholeNumber(after(rest, 'metric'));
  return [
    {
      destination,
      ...(via === undefined ? {} : { via }),
      ...(link === undefined ? {} : { link }),
      ...(metric === undefined ? {} : { metric }),
    },
  ];
}

/** A line of /proc/net/route: link, destination, gateway, flags, …, mask, as hexadecimal numbers in the machine's (little-endian) order. */
function parseProcRoute(line: string): Network['routes'] {
  const [link, destination, gateway, , , , metric, mask] = words(line);
  if (link === undefined || destination === undefined || gateway === undefined || mask === undefined) return [];
  const prefix = Number.parseInt(mask, 16).toString(2).replaceAll('0', '').length;
  const to = prefix === 0 ? 'default' : `${littleEndianAddress(destination)}/${prefix}`;
  const via = gateway === '00000000' ? {} : { via: littleEndianAddress(gateway) };
  return [{ destination: to, ...via, link, metric: wholeNumber(metric) ?? 0 }];
}

/** A line of ss -ltunp; older versions print no Netid column for one kind only, so both forms are told apart by the state. */
function parseSocket(line: string): Network['listeners'] {
  const fields = words(line);
  const [protocol] = fields;
  if (protocol !== 'tcp' && protocol !== 'udp') return [];
  const place = splitPlace(fields[4]);
  if (place === undefined) return [];
  const owner = /users:\(\("([^"]*)",pid=(\d+)/.exec(line);
  const [, program, pid] = owner ?? [];
  return [{ protocol, ...place, ...(pid === undefined ? {} : { pid: Number(pid) }), ...(program ? { program } : {}) }];
}

/** `0.0.0.0:22`, `[::]:22`, `*:22`, `127.0.0.53%lo:53`, `:::22` */
function splitPlace(place: string | undefined): { address: string; port: number } | undefined {
  const match = /^(.*):(\d+)$/.exec(place ?? '');
  const port = Number(match?.[2]);
  if (match === null || port === 0) return undefined;
  const address = (match[1] ?? '').replaceAll(/[[\]]/g, '').replace(/%.*/, '');
  return { address: address === '' ? '*' : address, port };
}

/** `tcp:  0: 0100007F:0016 00000000:0000 0A …`: state 0A is LISTEN. */
function parseProcSocket(line: string): Network['listeners'] {
  const [, , local, , state] = words(line.replace(':', ' '));
  const [hex, port] = (local ?? '').split(':');
  if (state !== '0A' || hex === undefined || port === undefined) return [];
  const address = hex.length === 8 ? littleEndianAddress(hex) : /^0+$/.test(hex) ? '::' : procAddress6(hex);
  return [{ protocol: 'tcp', address, port: Number.parseInt(port, 16) }];
}

function littleEndianAddress(hex: string): string {
  return [...Buffer.from(hex, 'hex')].toReversed().join('.');
}

/** Four 32-bit words, each in the machine's order. */
function procAddress6(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(':');
}

function readResolver(sections: Sections): Network['resolver'] {
  const values = (section: string, name: string): string[] =>
    sections
      .all(section)
      .map((line) => words(line.replace(/[#;].*/, '')))
      .flatMap(([key, ...rest]) => (key === name ? rest : []));
  const file =
    sections.has('resolv') || sections.one('resolvFile') === '/etc/resolv.conf'
      ? sections.one('resolvFile')
      : undefined;
  const upstreamFile = sections.one('resolvUpstream');
  return {
    nameservers: values('resolv', 'nameserver'),
    search: values('resolv', 'search'),
    upstreamNameservers: values('resolvUpstreamLine', 'nameserver'),
    ...(file === undefined ? {} : { file }),
    ...(upstreamFile === undefined ? {} : { upstreamFile }),
  };
}

function after(fields: readonly string[], word: string): string | undefined {
  const at = fields.indexOf(word);
  return at < 0 ? undefined : fields[at + 1];
}
