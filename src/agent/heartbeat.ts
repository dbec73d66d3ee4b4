// The agent's heartbeat: its Lease, renewed every few seconds, with what the controller wants to know of the agent itself.
import { agentAnnotations, agentObjects, type AgentSettings, heartbeatSeconds } from '../api/agent-config.ts';
import { errorFields, type Log } from '../lib/log.ts';
import type { Host } from '../host/host.ts';
import type { KubeClient } from '../kube/client.ts';
import { toErrorReport } from '../lib/errors.ts';
import { bkeVersion } from '../lib/version.ts';
import { rest } from '../lib/rest.ts';
import { writeContact } from '../tasks/agent/contact.ts';

export interface HeartbeatOptions {
  readonly host: Host;
  readonly client: Pick<KubeClient, 'patch'>;
  readonly settings: AgentSettings;
  readonly log: Log;
  readonly now: () => Date;
}

const retryMs = 1000;

/** Until the signal. */
export async function keepHeartbeat(options: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  const annotations = {
    [agentAnnotations.version]: await bkeVersion(),
    [agentAnnotations.bootID]: await bootID(options.host),
  };
  let told: string | undefined | null = null;
  while (!signal.aborted) {
    const fault = await beat(options, annotations);
    const problem = fault === undefined ? undefined : toErrorReport(fault).message;
    if (problem !== told && !signal.aborted) {
      told = problem;
      await tellContact(options, fault);
    }
    // All hosts of a site start together after a power cut, and should not speak together ever after.
    const waitMs = fault === undefined ? heartbeatSeconds.interval * 1000 * (0.9 + 0.2 * Math.random()) : retryMs;
    await rest(waitMs, signal);
  }
}

/** What went wrong; undefined where it was taken. */
async function beat(
  { client, settings, now }: HeartbeatOptions,
  annotations: Record<string, string>,
): Promise<unknown> {
  const { namespace, host } = settings;
  const { account } = agentObjects(host);
  const key = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: account };
  const spec = {
    holderIdentity: host,
    leaseDurationSeconds: heartbeatSeconds.valid,
    // The form that Kubernetes reads: six digits after the second.
    renewTime: now().toISOString().replace('Z', '000Z'),
  };
  try {
    await client.patch(key, { metadata: { annotations }, spec }, { type: 'merge', fieldManager: 'bke-agent' });
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

async function tellContact({ host, log, now }: HeartbeatOptions, fault: unknown): Promise<void> {
  if (fault === undefined) log.info({}, 'the cluster hears this host');
  else log.warn(errorFields(fault), 'the cluster does not hear this host');
  const said = fault === undefined ? {} : { problem: toErrorReport(fault).message };
  await writeContact(host, { pid: process.pid, since: now().toISOString(), ...said }).catch((thrown: unknown) =>
    log.warn(errorFields(thrown), 'the contact could not be noted'),
  );
}

async function bootID(host: Host): Promise<string> {
  return (await host.files.read('/proc/sys/kernel/random/boot_id'))?.toString('utf8').trim() ?? '';
}
