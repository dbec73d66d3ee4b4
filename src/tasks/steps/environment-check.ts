// The step `environment-check`: bke's own checks on this host, asked by the agent; what they find is the step's result, and its failure where that was asked for.
import { z } from 'zod';
import { gatherFacts } from '../../host/facts/gather.ts';
import type { HostNeeds } from '../preflight/check.ts';
import { machineOf } from '../preflight/machine.ts';
import { readOwnThings } from '../preflight/own-things.ts';
import { inspectHost, refuseFindings } from '../preflight/run.ts';
import { stepKind } from './step.ts';
import { defined } from '../../lib/defined.ts';

const text = z.string().max(1024);
const path = z.string().startsWith('/').max(4096);
const port = z.strictObject({
  port: z.int().min(1).max(65_535),
  use: text,
  protocol: z.literal('udp').optional(),
  open: z.boolean().optional(),
  fixed: z.boolean().optional(),
});
const kubernetes = z.strictObject({
  kind: z.enum(['k3s', 'kubeadm']),
  controlPlane: z.boolean(),
  file: z.string().min(1).max(255),
  nodeName: text.optional(),
  nodeIP: text.optional(),
  vxlan: z.boolean(),
  version: text,
  failCgroupV1: z.boolean().optional(),
  networks: z.array(z.strictObject({ cidr: text, use: text, given: text })),
});

/** As HostNeeds has it. */
const needs = z.strictObject({
  ports: z.array(port),
  space: z.array(z.strictObject({ path, bytes: z.int().nonnegative(), use: text })),
  tools: z.array(text),
  reachable: z.array(path),
  setsTime: z.boolean().optional(),
  runtime: z.boolean(),
  kubernetes: kubernetes.optional(),
});

/** Findings beyond these nobody reads. */
const mostFindings = 50;

export const environmentCheckStep = stepKind({
  parameters: z.strictObject({ needs, ignoreChecks: z.array(text).default([]), mustPass: z.boolean().default(false) }),
  changes: false,
  title: () => 'Check the host',
  timeoutMs: () => 2 * 60_000,
  run: async ({ scope: { host, signal } }, { needs: given, ignoreChecks, mustPass }) => {
    const asked = new Date();
    const wanted = needsOf(given);
    const paths = ['/', ...wanted.space.map((space) => space.path)];
    const facts = await gatherFacts(host, { paths, tools: wanted.tools, signal });
    const own = await readOwnThings(host, wanted, facts);
    const findings = inspectHost({ machine: machineOf(facts, wanted, { own, asked }), needs: wanted }, ignoreChecks);
    // Steps that change the host come after it.
    if (mustPass) refuseFindings(findings, host.name);
    return {
      passed: !findings.some(({ severity }) => severity === 'error'),
      findings: findings
        .slice(0, mostFindings)
        .map(({ check, severity, message, hint = '' }) => ({ check, severity, message, hint })),
      facts: {
        hostname: facts.hostname,
        machineID: facts.machineId ?? '',
        os: facts.os.name,
        architecture: facts.arch,
        kernel: facts.kernel,
        cpus: facts.cpus,
        memoryBytes: facts.memoryBytes,
      },
    };
  },
});

/** Absent fields are left out, as the checks have them. */
function needsOf(given: z.infer<typeof needs>): HostNeeds {
  const { ports, setsTime, kubernetes: cluster, ...rest } = given;
  return {
    ...rest,
    ports: ports.map((need) => defined(need)),
    ...(setsTime === undefined ? {} : { setsTime }),
    ...(cluster === undefined ? {} : { kubernetes: { ...defined(cluster), failCgroupV1: cluster.failCgroupV1 } }),
  };
}
