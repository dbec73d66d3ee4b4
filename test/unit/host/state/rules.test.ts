// Which firewall rules go and how: exactly Kubernetes', one by one; and when that would close the door behind an SSH session.
import { describe, expect, it } from 'vitest';
import { deletionScript, ownRules, parseRules, type RuleSet, ruleTarget } from '../../../../src/host/state/iptables.ts';
import { sessionRuleAtRisk } from '../../../../src/host/state/session-rules.ts';

const networks = new Set(['cbr0']);

function rules(text: string, backend: RuleSet['backend'] = 'iptables-nft'): RuleSet[] {
  return [{ backend, tables: parseRules(text) }];
}

const host = `# Generated
*filter
:INPUT DROP [12:960]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:KUBE-FIREWALL - [0:0]
:MY-KUBE-RULES - [0:0]
:cali-INPUT - [0:0]
[3:180] -A INPUT -p tcp -m tcp --dport 22 -j ACCEPT
-A INPUT -m comment --comment "go to -j KUBE-FIREWALL first" -j ACCEPT
-A INPUT -j KUBE-FIREWALL
-A INPUT -m comment --comment "cali:Cz_u1IQiXIMmKD4c" -j cali-INPUT
-A FORWARD -m comment --comment "cali:S93hcgKJrXEqnTfs" -m comment --comment "Policy explicitly accepted packet." -j ACCEPT
-A FORWARD -m comment --comment "cali:mine" -j ACCEPT
-A INPUT -j MY-KUBE-RULES
-A MY-KUBE-RULES -p udp -g KUBE-FIREWALL
-A KUBE-FIREWALL -j DROP
COMMIT
`;

describe('rules of Kubernetes', () => {
  it('are deleted one by one: jumps first, then their chains emptied, then removed; nothing else is named', () => {
    const [own] = ownRules(rules(host), networks);
    expect(own === undefined ? '' : deletionScript(own)).toBe(`*filter
-D INPUT -j KUBE-FIREWALL
-D INPUT -m comment --comment "cali:Cz_u1IQiXIMmKD4c" -j cali-INPUT
-D FORWARD -m comment --comment "cali:S93hcgKJrXEqnTfs" -m comment --comment "Policy explicitly accepted packet." -j ACCEPT
-D MY-KUBE-RULES -p udp -g KUBE-FIREWALL
-F KUBE-FIREWALL
-F cali-INPUT
-X KUBE-FIREWALL
-X cali-INPUT
COMMIT
`);
  });

  it('are none on a host that only has its own', () => {
    const own = host.split('\n').filter((line) => !/KUBE-FIREWALL|cali/.test(line));
    expect(ownRules(rules(own.join('\n')), networks)).toEqual([]);
  });

  it('a built-in chain never goes, whatever its name', () => {
    expect(ownRules(rules('*filter\n:KUBE-ODD ACCEPT [0:0]\nCOMMIT\n'), networks)).toEqual([]);
  });

  it('reads the target past anything in a comment', () => {
    expect(ruleTarget('-m comment --comment "a \\" -j X" -j Y')).toBe('Y');
    expect(ruleTarget('-p tcp -g Z')).toBe('Z');
    expect(ruleTarget('-p tcp')).toBeUndefined();
  });

  it('leaves shared chains of the network plugins while another program has a rule in them', () => {
    const nat = (other: string): string => `*nat
:PREROUTING ACCEPT [0:0]
:KUBE-X - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
:CNI-DN-aaa - [0:0]
${other}-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"cbr0\\" id: \\"a\\"" -j CNI-DN-aaa
COMMIT
`;
    expect(ownRules(rules(nat('')), networks)[0]?.chains).toEqual(['CNI-DN-aaa', 'KUBE-X', 'CNI-HOSTPORT-DNAT']);
    const shared = ownRules(rules(nat(':CNI-DN-bbb - [0:0]\n')), networks)[0];
    expect([shared?.chains, shared?.rules.map(({ chain }) => chain)]).toEqual([
      ['CNI-DN-aaa', 'KUBE-X'],
      ['CNI-HOSTPORT-DNAT'],
    ]);
    expect(ownRules(rules(nat('').replaceAll('KUBE', 'OTHER')), new Set(['podman']))).toEqual([]);
  });
});

describe('the rule an SSH session came in by', () => {
  const session = { client: '10.0.0.9', server: '10.0.0.2', port: 22, links: ['eth0'] };
  const closed = (more: string): RuleSet[] =>
    rules(
      `*filter\n:INPUT DROP [0:0]\n:cali-in - [0:0]\n-A INPUT -j cali-in\n${more}-A cali-in -p tcp --dport 22 -j ACCEPT\nCOMMIT\n`,
    );
  const atRisk = (sets: RuleSet[], who = session): string | undefined =>
    sessionRuleAtRisk(sets, ownRules(sets, networks), who)?.chain;

  it('is at risk when it is in a chain that goes and nothing else accepts', () => {
    expect(atRisk(closed(''))).toBe('cali-in');
    expect(
      atRisk(closed('-A INPUT -p udp -j ACCEPT\n-A INPUT -i lo -j ACCEPT\n-A INPUT -p tcp --dport 2222 -j ACCEPT\n')),
    ).toBe('cali-in');
    expect(atRisk(closed('-A INPUT -m state --state INVALID -j ACCEPT\n'))).toBe('cali-in');
  });

  it.each([
    '-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n',
    '-A INPUT -p tcp -m multiport --dports 80,20:30 -j ACCEPT\n',
    '-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n',
    '-A INPUT -i eth+ -j ACCEPT\n',
    '-A INPUT -s 10.0.0.0/8 -j ACCEPT\n',
  ])('is not at risk beside %s', (rule) => {
    expect(atRisk(closed(rule))).toBeUndefined();
  });

  it('is not at risk where nothing is dropped, in the other family, or where it never needed the chain', () => {
    expect(
      atRisk(
        rules('*filter\n:INPUT ACCEPT [0:0]\n:cali-in - [0:0]\n-A INPUT -j cali-in\n-A cali-in -j ACCEPT\nCOMMIT\n'),
      ),
    ).toBeUndefined();
    expect(atRisk(closed(''), { ...session, client: 'fd00::9' })).toBeUndefined();
    expect(
      atRisk(rules('*filter\n:INPUT DROP [0:0]\n:cali-in - [0:0]\n-A INPUT -j cali-in\nCOMMIT\n')),
    ).toBeUndefined();
  });
});
