// Routes and policy rules that network programs put on links that aren't theirs.
import { z } from 'zod';
import type { Host } from '../host.ts';
import { parseAnswer, programOutput } from './program.ts';

export interface Route {
  readonly family: 4 | 6;
  /** `default`, an address or a prefix. */
  readonly destination: string;
  readonly table: string;
  readonly protocol: string;
  readonly type: string;
  readonly gateway?: string;
  readonly device?: string;
}

export interface PolicyRule {
  readonly family: 4 | 6;
  readonly priority: number;
  readonly table: string;
}

const routeRows = z.array(
  z.object({
    type: z.string().optional(),
    dst: z.string().optional(),
    gateway: z.string().optional(),
    dev: z.string().optional(),
    protocol: z.string().optional(),
    table: z.string().optional(),
  }),
);
const ruleRows = z.array(z.object({ priority: z.number().optional(), table: z.string().optional() }));

/** Parses `ip -j -d route show table all`. */
export function parseRoutes(json: string | undefined, family: 4 | 6): Route[] {
  const rows = parseAnswer(json, routeRows, []);
  return rows.flatMap((row) =>
    row.dst === undefined
      ? []
      : [
          {
            family,
            destination: row.dst,
            table: row.table ?? 'main',
            protocol: row.protocol ?? 'boot',
            type: row.type ?? 'unicast',
            ...(row.gateway === undefined ? {} : { gateway: row.gateway }),
            ...(row.dev === undefined ? {} : { device: row.dev }),
          },
        ],
  );
}

/** Parses `ip -j rule show`. */
function parsePolicyRules(json: string | undefined, family: 4 | 6): PolicyRule[] {
  const rows = parseAnswer(json, ruleRows, []);
  return rows.flatMap((row) =>
    row.priority === undefined || row.table === undefined ? [] : [{ family, priority: row.priority, table: row.table }],
  );
}

export async function readRoutes(host: Host): Promise<Route[]> {
  const both = await Promise.all(
    ([4, 6] as const).map(async (family) =>
      parseRoutes(await programOutput(host, ['ip', `-${family}`, '-j', '-d', 'route', 'show', 'table', 'all']), family),
    ),
  );
  return both.flat();
}

export async function readPolicyRules(host: Host): Promise<PolicyRule[]> {
  const both = await Promise.all(
    ([4, 6] as const).map(async (family) =>
      parsePolicyRules(await programOutput(host, ['ip', `-${family}`, '-j', 'rule', 'show']), family),
    ),
  );
  return both.flat();
}

// Calico's BIRD writes routes with its own protocol number (named `bird`, 12) and Calico's agent with 80.
const calicoProtocols = new Set(['bird', '80']);

// Cilium's own tables for traffic to its proxy.
const ciliumTables = new Set(['2004', '2005']);

/** Why a route is a network program's. `calico`, `cilium`: something else of that program was found on this host. */
export function routeMaker(
  route: Route,
  found: { readonly calico: boolean; readonly cilium: boolean },
): string | undefined {
  if (route.destination === 'default' && route.table === 'main') return undefined;
  if (found.calico && calicoProtocols.has(route.protocol)) return 'Calico';
  if (found.cilium && ciliumTables.has(route.table)) return 'Cilium';
  return undefined;
}

export function policyRuleMaker(rule: PolicyRule, found: { readonly cilium: boolean }): string | undefined {
  return found.cilium && ciliumTables.has(rule.table) ? 'Cilium' : undefined;
}
