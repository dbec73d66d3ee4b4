// The addresses of a host that other machines can reach, and the one that its default route goes out by.
import { z } from 'zod';
import type { Host } from '../../host/host.ts';
import { parseAnswer, programOutput } from '../../host/state/program.ts';
import type { HostAddresses } from './host-address.ts';

const links = z.array(
  z.object({
    ifname: z.string().optional(),
    addr_info: z
      .array(
        z.object({ local: z.string().optional(), scope: z.string().optional(), temporary: z.boolean().optional() }),
      )
      .optional(),
  }),
);
const routes = z.array(z.object({ dst: z.string(), prefsrc: z.string().optional(), dev: z.string().optional() }));

export async function readAddresses(host: Host): Promise<HostAddresses> {
  const found = parseAnswer(await programOutput(host, ['ip', '-j', 'address', 'show', 'scope', 'global']), links, []);
  const global = found.flatMap(({ ifname = '', addr_info = [] }) =>
    isPodLink(ifname)
      ? []
      : addr_info.flatMap(({ local, temporary }) => (local === undefined || temporary === true ? [] : [local])),
  );
  return { defaultSource: await readDefaultSource(host, found), global };
}

/** Addresses of pod networks are nobody's to reach this host by. */
function isPodLink(name: string): boolean {
  return /^(cni\d|flannel|docker\d|cali|vxlan\.calico|veth|kube-)/.test(name);
}

/** The source the route names, else the first address of the link it goes out by. */
async function readDefaultSource(host: Host, found: z.infer<typeof links>): Promise<string | undefined> {
  for (const family of ['-4', '-6']) {
    const all = parseAnswer(await programOutput(host, ['ip', '-j', family, 'route', 'show', 'default']), routes, []);
    const [route] = all;
    if (route === undefined) continue;
    const source = route.prefsrc ?? firstAddress(found, route.dev, family);
    if (source !== undefined) return source;
  }
  return undefined;
}

function firstAddress(found: z.infer<typeof links>, dev: string | undefined, family: string): string | undefined {
  const addresses = found.find(({ ifname }) => ifname === dev)?.addr_info ?? [];
  return addresses.find(({ local }) => local?.includes(':') === (family === '-6'))?.local;
}
