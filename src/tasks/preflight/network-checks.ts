// Whether the network of a host is what a cluster needs: its address, its routes, the blocks of pods and services, its name servers.
import { contains, overlaps, parseCidr } from '../../lib/cidr.ts';
import { type Check, error, warning } from './check.ts';
import { forCluster } from './kubernetes-checks.ts';

export const nodeAddressCheck: Check = {
  name: 'node-address',
  title: 'The address of the node is one of the host',
  appliesTo: ({ kubernetes }) => kubernetes?.nodeIP !== undefined,
  inspect: forCluster(({ machine: { addresses } }, { nodeIP, file }) =>
    nodeIP === undefined || addresses.includes(nodeIP)
      ? []
      : [
          error(
            `${nodeIP} is no address of this host`,
            `Give nodeIP of the host in ${file}: one of its own addresses, which the other hosts reach it by.`,
          ),
        ],
  ),
};

export const defaultRouteCheck: Check = {
  name: 'default-route',
  title: 'A default route',
  appliesTo: ({ kubernetes }) => kubernetes !== undefined,
  inspect: forCluster(({ machine: { defaultRoute } }, { kind }) => {
    if (defaultRoute) return [];
    const one = 'ip link add dummy0 type dummy; ip link set dummy0 up; ip route add default dev dummy0 metric 1000';
    return kind === 'k3s'
      ? [error('this host has no default route, and K3s does not start without one', `It may lead nowhere: ${one}.`)]
      : [
          warning(
            'this host has no default route: pods work, but programs outside of them reach no address of a Service',
            `Whoever needs that gives it one, which may lead nowhere: ${one}.`,
          ),
        ];
  }),
};

export const networksCheck: Check = {
  name: 'networks',
  title: "Addresses of pods and services are nobody else's here",
  appliesTo: ({ kubernetes }) => kubernetes !== undefined,
  inspect: forCluster(({ machine }, { networks, file }) => {
    const hint = `Choose another block in spec.network of ${file}.`;
    return networks.flatMap(({ cidr, use, given }) => {
      const block = parseCidr(cidr);
      if (block === undefined) return [];
      const wanted = `${cidr} for ${use} (${given})`;
      return machine.networks.flatMap(({ cidr: other, what, address }) => {
        if (address !== undefined && contains(block, address))
          return [error(`${wanted} overlaps with ${other}, ${what}`, hint)];
        const network = parseCidr(other);
        // The cluster's own routes are narrower and win; what lies behind this one is out of its pods' reach, which may not matter.
        return network !== undefined && overlaps(block, network)
          ? [warning(`${wanted} overlaps with ${other}, ${what}: pods reach no machine there`, hint)]
          : [];
      });
    });
  }),
};

/** A pod's loopback is its own: cluster DNS would send its questions to itself, until it ends (CoreDNS, plugin loop). */
export const resolverCheck: Check = {
  name: 'resolver',
  title: 'The name servers can be asked by pods',
  appliesTo: ({ kubernetes }) => kubernetes !== undefined,
  inspect: forCluster(({ machine: { nameservers } }) => {
    const usable = nameservers.filter((server) => !/^(127\.|0\.0\.0\.0$|::1?$|fe[89ab])/i.test(server));
    if (nameservers.length === 0 || usable.length > 0) return [];
    return [
      warning(
        `the only name server is ${nameservers.join(', ')}, which in a pod is the pod itself: cluster DNS would ask itself in a loop, so bke keeps it from pods, and they resolve no name from outside of the cluster`,
        'If pods need such names, put a server that other machines can ask into /etc/resolv.conf.',
      ),
    ];
  }),
};
