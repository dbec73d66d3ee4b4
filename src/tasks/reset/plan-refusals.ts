// When a reset must not even begin: it would cut off the person who started it, end itself, or take away a link others use.
import { foreignPorts, linkMaker } from '../../host/state/links.ts';
import { sessionRuleAtRisk } from '../../host/state/session-rules.ts';
import type { HostState } from '../../host/state/state.ts';
import type { Refusal } from './reset-plan.ts';
import { listedShort } from '../../lib/text.ts';
import { ownNetwork, runsInPod } from './select.ts';

function linkRefusals({ network, session }: HostState): Refusal[] {
  const refusals: Refusal[] = [];
  for (const link of network.links) {
    const maker = linkMaker(link, network.links);
    if (maker === undefined) continue;
    const ports = foreignPorts(link, network.links);
    const reached = session?.links.find((name) => name === link.name || ports.some((port) => port.name === name));
    if (reached !== undefined) {
      refusals.push({
        what: `link ${link.name} (${maker})`,
        why: `your SSH session from ${session?.client ?? '?'} comes in through ${reached}: removing the link would cut it off`,
        hint: 'Run the reset from the console, or log in by another interface.',
      });
    } else if (ports.length > 0) {
      const names = ports.map((port) => port.name);
      refusals.push({
        what: `link ${link.name} (${maker})`,
        why: `${names.join(', ')} is a port of it, which Kubernetes did not put there`,
        hint: `Take it off first: ${names.map((name) => `ip link set ${name} nomaster`).join('; ')}`,
      });
    }
  }
  return refusals;
}

function ruleRefusals({ network, session }: HostState): Refusal[] {
  if (session === undefined) return [];
  const rule = sessionRuleAtRisk(network.rules, ownNetwork(network).rules, session);
  if (rule === undefined) return [];
  return [
    {
      what: `chain ${rule.chain}`,
      why: `the firewall drops what nothing accepts, and only this chain's rule '${rule.spec}' lets your SSH session in`,
      hint: `Allow it first: iptables -I INPUT -p tcp --dport ${session.port} -j ACCEPT`,
    },
  ];
}

function containerRefusals({ k3sContainers }: HostState): Refusal[] {
  const [first] = k3sContainers;
  if (first === undefined) return [];
  const namespace = first.split('/')[0] ?? '';
  return [
    {
      what: `containers in K3s's containerd: ${listedShort(k3sContainers, 5)}`,
      why: "they are not Kubernetes' and would lose what they run on",
      hint: `End them first: k3s ctr -n ${namespace} tasks list`,
    },
  ];
}

export function planRefusals(state: HostState, self: number): Refusal[] {
  const inPod: Refusal[] = runsInPod(state.processes, self)
    ? [
        {
          what: 'the pods of this host',
          why: 'bke itself runs inside one of them and would be ended half way',
          hint: 'Run bke on the host itself.',
        },
      ]
    : [];
  return [...inPod, ...containerRefusals(state), ...linkRefusals(state), ...ruleRefusals(state)];
}
