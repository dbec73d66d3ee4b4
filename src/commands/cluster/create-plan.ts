// What `bke cluster create --dry-run` tells: what would be written, and host by host what would be done there.
import { sshSecretName } from '../../cluster/render/names.ts';
import type { ClusterConfig, HostConfig } from '../../config/cluster/config.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, keyOf } from '../../kube/fields.ts';
import { runLocalOperation } from '../../operations/local-operation.ts';
import type { HostChain, Step, StepBinding } from '../../operations/operation.ts';
import type { CommandContext } from '../context.ts';
import { type Existing, isInUse } from './existing.ts';

export interface Plan {
  readonly config: ClusterConfig;
  readonly objects: readonly KubeObject[];
  /** Those of them that would be made or changed. */
  readonly pending: readonly KubeObject[];
  readonly existing: Pick<Existing, 'hosts'>;
}

type Action = 'create' | 'change' | 'keep' | 'run';
type Line = readonly [action: Action, what: string];

/** As a dry run of an operation, so that it is shown like any plan. */
export async function tellPlan(context: CommandContext, client: Pick<KubeClient, 'get'>, plan: Plan): Promise<void> {
  const { config, objects } = plan;
  const actionOf = await actionsOf(client, plan);
  const owners = new Map(
    config.hosts.flatMap(({ name }) => [`BKEHost/${name}`, `Secret/${sshSecretName(name)}`].map((key) => [key, name])),
  );
  const ownerOf = ({ kind, metadata }: KubeObject): string | undefined => owners.get(`${kind}/${metadata.name}`);
  const line = (object: KubeObject): Line => [actionOf(object), wordsOf(object, ownerOf(object))];
  const shared = objects.filter((object) => ownerOf(object) === undefined).map(line);
  const chains = config.hosts.map((host): HostChain<StepBinding> => {
    const own = objects.filter((object) => ownerOf(object) === host.name).map(line);
    const steps = [planStep([...own, ...workLines(host, plan)])];
    return { host: host.name, steps };
  });
  await runLocalOperation(context, {
    action: 'cluster.create',
    target: `cluster ${config.name}`,
    phases: [
      { id: 'resources', title: 'Resources', chains: [{ steps: [planStep(shared)] }] },
      { id: 'hosts', title: 'Hosts', barrier: true, chains },
    ],
    dryRun: true,
    createScope: (binding) => binding,
  });
}

function planStep(lines: readonly Line[]): Step<StepBinding> {
  return {
    name: 'cluster/plan',
    title: 'plan',
    timeoutMs: 60_000,
    run: async (binding) => {
      for (const [action, what] of lines) {
        binding.emit({ type: 'step.planned', action, what });
        if (action !== 'keep') binding.changed();
      }
    },
  };
}

async function actionsOf(client: Pick<KubeClient, 'get'>, { pending }: Plan): Promise<(object: KubeObject) => Action> {
  const actions = new Map<KubeObject, Action>();
  for (const object of pending)
    actions.set(object, (await client.get(keyOf(object))) === undefined ? 'create' : 'change');
  return (object) => actions.get(object) ?? 'keep';
}

/** Of what belongs to a host without its name, so that hosts with the same plan are told together. */
function wordsOf({ kind, metadata }: KubeObject, owner: string | undefined): string {
  if (owner === undefined) return `${kind} ${metadata.name}`;
  return kind === 'Secret' ? 'its Secret with the SSH login' : `its ${kind}`;
}

/** What the controllers will have done there. */
function workLines({ name, roles, ssh }: HostConfig, { config, existing }: Plan): Line[] {
  const host = existing.hosts.get(name);
  const lines: Line[] = [];
  if (!isInUse(host)) lines.push(['run', `log in as ${ssh.user} and bring up the agent of bke`]);
  if (fieldAt(host, 'spec', 'consumerRef') === undefined) {
    const role = roles.includes('control-plane') ? 'control-plane' : 'workers';
    lines.push(
      ['run', `prepare it for Kubernetes ${config.kubernetesVersion}: kernel settings, containerd, kubelet, images`],
      ['run', role === 'control-plane' ? 'make it a node of the control plane' : 'make it a worker node'],
    );
  }
  return lines;
}
