// Whether deleting Kubernetes' firewall rules would close the door the SSH session came in by.
import { isIPv6 } from 'node:net';
import { type OwnRules, type Rule, type RuleSet, type RuleTable, ruleTarget, withoutTexts } from './iptables.ts';
import type { SshSession } from './session.ts';

function option(spec: string, name: string): string | undefined {
  return new RegExp(`(?:^| )${name} (\\S+)`).exec(spec)?.[1];
}

function portsInclude(list: string, port: number): boolean {
  return list.split(',').some((part) => {
    const [from, to] = part.split(':');
    return Number(from) <= port && port <= Number(to ?? from);
  });
}

/** Whether a rule may let packets of the session pass; conditions not understood count as met. */
function mayAccept(rule: string, session: SshSession): boolean {
  const spec = withoutTexts(rule);
  const protocol = option(spec, '-p');
  if (protocol !== undefined && protocol !== 'tcp' && protocol !== 'all') return false;
  const ports = option(spec, '--dports?');
  if (ports !== undefined && !portsInclude(ports, session.port)) return false;
  const link = option(spec, '-i');
  if (link !== undefined && !session.links.some((name) => matchesLink(name, link))) return false;
  const states = option(spec, '--(?:ct)?state');
  return states === undefined || /ESTABLISHED|NEW/.test(states);
}

function matchesLink(name: string, pattern: string): boolean {
  return pattern.endsWith('+') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** ACCEPT rules that can be reached from INPUT, with the chain each is in. */
function acceptsFromInput(table: RuleTable, session: SshSession): Rule[] {
  const seen = new Set<string>();
  const found: Rule[] = [];
  const visit = (chain: string): void => {
    if (seen.has(chain)) return;
    seen.add(chain);
    for (const rule of table.rules) {
      if (rule.chain !== chain) continue;
      const target = ruleTarget(rule.spec);
      if (target === 'ACCEPT' && mayAccept(rule.spec, session)) found.push(rule);
      else if (target !== undefined) visit(target);
    }
  };
  visit('INPUT');
  return found;
}

function isClosed(table: RuleTable): boolean {
  if (table.chains.some((chain) => chain.name === 'INPUT' && chain.policy === 'DROP')) return true;
  const last = table.rules.filter((rule) => rule.chain === 'INPUT').at(-1);
  return last !== undefined && /^-j (DROP|REJECT)( |$)/.test(last.spec);
}

function withoutOwn(table: RuleTable, own: OwnRules): RuleTable {
  const chains = new Set(own.chains);
  const rules = new Set(own.rules);
  return { ...table, rules: table.rules.filter((rule) => !chains.has(rule.chain) && !rules.has(rule)) };
}

/**
 * The rule that alone lets the session in, where it is one that would go: INPUT drops what nothing accepts,
 * and without Kubernetes' chains nothing accepts the session any more.
 */
export function sessionRuleAtRisk(
  sets: readonly RuleSet[],
  own: readonly OwnRules[],
  session: SshSession,
): Rule | undefined {
  const wanted = isIPv6(session.client) && !session.client.startsWith('::ffff:') ? 'ip6tables' : 'iptables';
  for (const set of sets) {
    if (!set.backend.startsWith(wanted)) continue;
    const table = set.tables.find((candidate) => candidate.name === 'filter');
    const going = own.find((entry) => entry.backend === set.backend && entry.table === 'filter');
    if (table === undefined || going === undefined || !isClosed(table)) continue;
    const [accepting] = acceptsFromInput(table, session);
    if (accepting !== undefined && acceptsFromInput(withoutOwn(table, going), session).length === 0) return accepting;
  }
  return undefined;
}
