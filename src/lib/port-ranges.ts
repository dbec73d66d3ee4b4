// Lists of port ranges as the kernel writes them in net.ipv4.ip_local_reserved_ports: `8080,9000-9010`.

/** @throws Error where the text is no such list. */
export function parsePortRanges(text: string): number[] {
  const ports = new Set<number>();
  for (const part of text.trim().split(',')) {
    if (part === '') continue;
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    if (match === null) throw new Error(`not a port range: ${part}`);
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (last > 65_535 || last < first) throw new Error(`not a port range: ${part}`);
    for (let port = first; port <= last; port += 1) ports.add(port);
  }
  return [...ports].sort((a, b) => a - b);
}

/** The kernel's own form: ascending, neighbours joined to ranges. */
export function formatPortRanges(ports: readonly number[]): string {
  const sorted = [...new Set(ports)].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const port of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === port - 1) last[1] = port;
    else ranges.push([port, port]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}
