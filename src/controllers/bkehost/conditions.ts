// The conditions of a BKEHost, in the order in which they come true.
import type { Verdict } from '../conditions.ts';

export const conditionTypes = ['HostKeysKnown', 'Reachable', 'AgentReady', 'Preflight', 'Clean', 'Available'] as const;
export type ConditionType = (typeof conditionTypes)[number];

export type Verdicts = Readonly<Record<ConditionType, Verdict>>;
