// The step that makes a prepared host a node: it runs Cluster API's bootstrap data, once, and proves that the node works.
import type { JsonObject } from '../../../config/node-settings.ts';
import { digestOf } from '../../../lib/digest.ts';
import { BkeError } from '../../../lib/errors.ts';
import type { Redactor } from '../../../lib/redact.ts';
import type { Task, TaskScope } from '../../task.ts';
import { nameNode } from '../environment.ts';
import { setTimeServers } from '../time-servers.ts';
import { clearAttempt, requireNoKubernetes } from './clean-up.ts';
import { type AskKubelet, askKubelet, startKubelet, waitForNode } from './health.ts';
import { type NodeTaints, withKubeProxy, withTaints } from './kubeadm-files.ts';
import { type BootstrapData, type Command, readBootstrapData } from './parse.ts';
import type { NodeMetadata } from './render.ts';
import { runScript, type ScriptEnd } from './run-script.ts';
import { shellScript } from './script.ts';
import { redactorOf } from './secrets.ts';
import { bootstrapPaths, hasSentinel, makeFolders, readState, writeState } from './state.ts';
import { makeUsers } from './users.ts';
import { writeFiles } from './write-files.ts';

export interface BootstrapDataParameters {
  /** `value` of the bootstrap Secret, cloud-config: it holds keys. */
  readonly data: string;
  readonly metadata: NodeMetadata;
  /** Fields of KubeProxyConfiguration, for the first control plane; the others take what the cluster has. */
  readonly kubeProxy?: JsonObject;
  /** Absent: those of the data alone. */
  readonly taints?: NodeTaints;
  /** Bound on the commands. Default 20 minutes. */
  readonly commandsTimeoutMs?: number;
}

const commandsTimeoutMs = 20 * 60_000;
const bootTimeoutMs = 10 * 60_000;

export const bootstrapDataTask: Task<BootstrapDataParameters> = {
  name: 'node/bootstrap-data',
  title: () => 'Make this host a node',
  timeoutMs: 60 * 60_000,
  run: (scope, parameters) => runBootstrapData(scope, parameters),
};

interface Attempt {
  readonly data: BootstrapData;
  /** Digest of the data. */
  readonly digest: string;
  readonly redact: Redactor;
  readonly parameters: BootstrapDataParameters;
}

/**
 * Run again it does nothing where the host is a node already, and waits for its health; where an attempt failed or was cut off, it takes away
 * what is left of it and begins anew.
 * @throws BkeError BKE_BOOTSTRAP_DATA_INVALID before anything is changed, BKE_KUBERNETES_FOUND, BKE_NODE_EXISTS, BKE_BOOTSTRAP_FAILED,
 * BKE_TIMEOUT
 */
export async function runBootstrapData(
  scope: TaskScope,
  parameters: BootstrapDataParameters,
  ask: AskKubelet = askKubelet,
): Promise<void> {
  const data = readBootstrapData(parameters.data, parameters.metadata);
  const attempt = { data, digest: digestOf(data.text), redact: redactorOf(data), parameters };
  if (await isDone(scope, attempt)) await startKubelet(scope);
  else await begin(scope, attempt);
  await waitForNode(scope, ask);
}

async function isDone(scope: TaskScope, { digest }: Attempt): Promise<boolean> {
  const { host } = scope;
  const state = await readState(host);
  if (state?.progress === 'begun' && state.data === digest && (await hasSentinel(host))) {
    // bke died between the sentinel and its own record.
    if (!scope.dryRun) await writeState(host, { ...state, progress: 'done' });
    return true;
  }
  if (state?.progress !== 'done') return false;
  if (state.data === digest) return true;
  throw new BkeError('BKE_NODE_EXISTS', 'this host is a node already, made with other bootstrap data', {
    host: host.name,
    hint: 'Delete its Machine, which releases the host, and let Cluster API make a new one.',
  });
}

async function begin(scope: TaskScope, attempt: Attempt): Promise<void> {
  const { data, digest, parameters } = attempt;
  const { host } = scope;
  const former = await readState(host);
  if (former === undefined) await requireNoKubernetes(host);
  await makeFolders(scope);
  // From here on what there is of Kubernetes is ours.
  if (!scope.dryRun) await writeState(host, { progress: 'begun', data: digest });
  const { hostname, address } = parameters.metadata;
  await nameNode(scope, { nodeName: hostname, nodeIP: address });
  if (former !== undefined) await clearAttempt(scope, { joining: !isInit(data) });
  await runBootCommands(scope, attempt);
  const tainted = parameters.taints === undefined ? data.files : withTaints(data.files, parameters.taints);
  await writeFiles(scope, withKubeProxy(tainted, parameters.kubeProxy ?? {}));
  await makeUsers(scope, data.users);
  if (data.timeServers !== undefined) await setTimeServers(scope, data.timeServers);
  await runCommands(scope, attempt);
}

/** The first control plane: there is no cluster yet that it could have left something in. */
function isInit({ files }: BootstrapData): boolean {
  return files.some(({ path }) => path === '/run/kubeadm/kubeadm.yaml');
}

/** As with cloud-init a failure is told, and goes no further. */
async function runBootCommands(scope: TaskScope, attempt: Attempt): Promise<void> {
  const { bootcmd } = attempt.data;
  if (bootcmd.length === 0) return;
  await scope.act('run the boot commands of the bootstrap data', async () => {
    const end = await runScript(scope, scriptOf(attempt, 'bootcmd', bootcmd, bootTimeoutMs));
    if (end.exitCode !== 0) scope.warn(`bootcmd ended with exit code ${end.exitCode}: ${end.said.at(-1) ?? ''}`);
  });
}

async function runCommands(scope: TaskScope, attempt: Attempt): Promise<void> {
  const { host } = scope;
  const { data, digest, parameters } = attempt;
  await scope.act('run the commands of the bootstrap data', async () => {
    await host.files.remove(bootstrapPaths.sentinel);
    let noted = false;
    const look = async (): Promise<void> => {
      if (noted || !(await hasSentinel(host))) return;
      // At once: what comes after it may reboot the host.
      await writeState(host, { progress: 'done', data: digest });
      noted = true;
    };
    const script = scriptOf(attempt, 'runcmd', data.runcmd, parameters.commandsTimeoutMs ?? commandsTimeoutMs);
    const end = await runScript(scope, { ...script, look });
    await look();
    if (!noted) throw failure(scope, end);
    if (end.exitCode !== 0) {
      scope.warn(`a command after kubeadm ended with exit code ${end.exitCode}: ${end.said.at(-1) ?? ''}`);
    }
  });
}

function scriptOf({ redact }: Attempt, name: string, commands: readonly Command[], timeoutMs: number) {
  return { name, text: shellScript(commands), timeoutMs, redact };
}

function failure({ host }: TaskScope, { exitCode, said }: ScriptEnd): BkeError {
  return new BkeError(
    'BKE_BOOTSTRAP_FAILED',
    `the host did not become a node: runcmd ended with exit code ${exitCode}`,
    {
      host: host.name,
      details: said,
      hint: `All it said is in ${bootstrapPaths.log('runcmd')} on the host; see also journalctl -u kubelet and crictl ps -a.`,
    },
  );
}
