import { readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agentAnnotations, agentObjects } from '../../../src/api/agent-config.ts';
import type { HostCommandSpec, HostCommandStatus } from '../../../src/api/kinds/host-command.ts';
import { agentAccess } from '../../../src/cluster/agent-access.ts';
import { lifeOf } from '../../../src/agent/token.ts';
import { applyAll } from '../../../src/kube/apply.ts';
import type { KubeClient, KubeObject, ObjectKey } from '../../../src/kube/client.ts';
import { fieldAt, textAt } from '../../../src/kube/fields.ts';
import { parseManifests } from '../../../src/kube/manifests.ts';
import { kubeStatus } from '../../../src/kube/status-error.ts';
import { agentPaths } from '../../../src/tasks/agent/paths.ts';
import type { FakeHost } from '../../fakes/fake-host.ts';
import { startApiServer, type TestApiServer } from '../kube/api-server.ts';
import { type AgentProcess, makeAgentHost, residentMiB, startAgent, until } from './agent-process.ts';
import { type BreakingSite, startSite } from './site.ts';

const namespace = 'bke';
const commandKind = { apiVersion: 'bke.io/v1alpha1', kind: 'HostCommand' };
const leaseKind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

let server: TestApiServer;
let site: BreakingSite;

beforeAll(async () => {
  [server, site] = await Promise.all([startApiServer(), startSite()]);
  const definition = parseManifests(await readFile('assets/crds/hostcommands.bke.io.yaml', 'utf8'));
  const space: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  await apply([...definition, space]);
});

afterAll(async () => {
  await server.stop();
  await site.close();
});

async function apply(objects: readonly KubeObject[]): Promise<void> {
  await applyAll(server.client, objects, { fieldManager: 'test', signal: AbortSignal.timeout(30_000) });
}

/** What the controller makes for a host. */
async function enrol(host: string): Promise<void> {
  await apply([
    ...agentAccess({ namespace, host }),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: agentObjects(host).inbox },
      stringData: { value: 'of the inbox' },
    },
  ]);
}

type Steps = HostCommandSpec['steps'];

async function command(host: string, steps: Steps, rest: Partial<HostCommandSpec> = {}): Promise<string> {
  const commandID = rest.commandID ?? randomUUID();
  const spec = { commandID, leaseGeneration: 1, steps, ...rest };
  const key = { ...commandKind, namespace, name: host };
  if ((await server.client.get(key)) === undefined) {
    await server.client.create({ ...commandKind, metadata: { namespace, name: host }, spec });
  } else {
    await server.client.patch(key, [{ op: 'replace', path: '/spec', value: spec }], {
      type: 'json',
      fieldManager: 'test',
    });
  }
  return commandID;
}

const step = (
  task: string,
  parameters: Record<string, unknown> = {},
  id = task.replaceAll('/', '-'),
): Steps[number] => ({ id, task, parameters });

/** A shell command of a host whose owner allows it. */
const shell = (line: string): Steps[number] => step('shell', { command: line, allowShell: true });

describe('the rights of an agent', () => {
  let own: KubeClient;
  beforeAll(async () => {
    await enrol('cp1');
    await enrol('w1');
    for (const host of ['cp1', 'w1']) await command(host, [step('ping')]);
    own = await server.clientOf(namespace, agentObjects('cp1').account);
  });
  afterAll(() => own.close());

  const statusOf = async (asked: Promise<unknown>): Promise<number> =>
    asked.then(
      () => 200,
      (thrown: unknown) => kubeStatus(thrown)?.status ?? 0,
    );
  const key = (kind: { apiVersion: string; kind: string }, name: string): ObjectKey => ({ ...kind, namespace, name });
  const merge = { type: 'merge', fieldManager: 'bke-agent' } as const;
  const token = (host: string): Promise<unknown> =>
    own.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${agentObjects(host).account}/token`, {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 2_592_000 } },
    });
  const watch = async (host: string): Promise<unknown> => {
    const list = { namespace, fieldSelector: `metadata.name=${host}` };
    const signal = AbortSignal.timeout(5000);
    const { resourceVersion } = await own.list(commandKind, list);
    for await (const event of own.watch(commandKind, { ...list, resourceVersion, signal })) return event;
    return undefined;
  };
  /** Everything an agent does, to a host of that name. */
  const everything = (host: string): Record<string, Promise<unknown>> => {
    const { account, inbox, hostCommand } = agentObjects(host);
    const secret = { apiVersion: 'v1', kind: 'Secret' };
    return {
      'read the command': own.get(key(commandKind, hostCommand)),
      'watch the command': watch(hostCommand),
      'tell the status': own.patch(
        key(commandKind, hostCommand),
        { status: { commandID: 'x' } },
        { ...merge, subresource: 'status' },
      ),
      'read the inbox': own.get(key(secret, inbox)),
      heartbeat: own.patch(key(leaseKind, account), { spec: { holderIdentity: 'me' } }, merge),
      'renew the token': token(host),
    };
  };
  const outcomes = async (asked: Record<string, Promise<unknown>>): Promise<Record<string, number>> =>
    Object.fromEntries(
      await Promise.all(Object.entries(asked).map(async ([what, answer]) => [what, await statusOf(answer)] as const)),
    );

  it('are all it needs for its own host', async () => {
    const found = await outcomes(everything('cp1'));
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((what) => [what, 200])));
    expect(Object.keys(found)).toHaveLength(6);
  });

  it('are none for any other host', async () => {
    const found = await outcomes(everything('w1'));
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((what) => [what, 403])));
  });

  it('let it neither change what it is told nor look around', async () => {
    const { account } = agentObjects('cp1');
    const found = await outcomes({
      'write its command': own.patch(key(commandKind, 'cp1'), { spec: { cancelRequested: true } }, merge),
      'delete its command': own.delete(key(commandKind, 'cp1')),
      'list commands': own.list(commandKind, { namespace }),
      'list secrets': own.list({ apiVersion: 'v1', kind: 'Secret' }, { namespace }),
      'write its inbox': own.patch(key({ apiVersion: 'v1', kind: 'Secret' }, 'inbox-cp1'), { data: {} }, merge),
      'make a secret': own.create({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'mine' } }),
      'read its account': own.get(key({ apiVersion: 'v1', kind: 'ServiceAccount' }, account)),
      'widen its role': own.patch(
        key({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' }, account),
        { rules: [] },
        merge,
      ),
    });
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((what) => [what, 403])));
  });
});

describe('the agent', () => {
  let name: string;
  let host: FakeHost;
  let agent: AgentProcess;
  let hosts = 0;
  let enrolled: string;

  beforeEach(async () => {
    hosts += 1;
    name = `host-${hosts}`;
    await enrol(name);
    enrolled = await server.tokenOf(namespace, agentObjects(name).account);
    host = await makeAgentHost({
      host: name,
      namespace,
      // One that is down: the agent goes to the next.
      servers: ['https://127.0.0.1:1', server.url],
      ca: server.ca,
      token: enrolled,
      site: {
        domain: 'localhost',
        hostIP: '127.0.0.1',
        ports: { registry: 1, files: site.port, charts: 1 },
        ca: site.ca,
      },
    });
    agent = startAgent(host);
  });

  afterEach(async () => {
    await agent.end('SIGKILL');
    await host.dispose();
  });

  const status = async (): Promise<HostCommandStatus | undefined> => {
    const object = await server.client.get({ ...commandKind, namespace, name });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API server checked it against the schema
    return fieldAt(object, 'status') as HostCommandStatus | undefined;
  };
  const statusWhen = (
    what: string,
    id: string,
    is: (status: HostCommandStatus) => boolean,
  ): Promise<HostCommandStatus> =>
    until(
      what,
      async () => {
        const now = await status();
        return now !== undefined && now.commandID === id && is(now) ? now : undefined;
      },
      agent.log,
    );
  const isOver = ({ steps = [] }: HostCommandStatus): boolean =>
    steps.every(({ state }) => !['Pending', 'Running'].includes(state));
  const ended = (id: string): Promise<HostCommandStatus> => statusWhen('the end of the command', id, isOver);
  const running = (id: string): Promise<HostCommandStatus> =>
    statusWhen('a running step', id, ({ steps = [] }) => steps.some(({ state }) => state === 'Running'));
  const states = ({ steps = [] }: HostCommandStatus): string[] =>
    steps.map(({ id, state, attempt }) => `${id} ${state} ${attempt}`);

  it('is heard, answers, and is small', async () => {
    const id = await command(name, [step('ping'), step('collect', { path: '/var/log/a.log', offset: -4 })]);
    const { steps = [] } = await ended(id);
    expect(steps[0]).toMatchObject({ state: 'Done', attempt: 1, result: { hostname: 'fake', bootID: 'boot-1' } });
    expect(steps[1]).toMatchObject({ state: 'Failed', error: { code: 'BKE_COLLECT_REFUSED' } });
    const readLease = () => server.client.get({ ...leaseKind, namespace, name: agentObjects(name).account });
    // Its first command may come to its end before its first heartbeat does.
    await expect.poll(async () => textAt(await readLease(), 'spec', 'holderIdentity')).toBe(name);
    const lease = await readLease();
    expect(Date.now() - Date.parse(textAt(lease, 'spec', 'renewTime') ?? '')).toBeLessThan(15_000);
    expect(lease?.metadata.annotations).toMatchObject({ [agentAnnotations.bootID]: 'boot-1' });
    expect(JSON.parse(await readFile(host.at(agentPaths.contact), 'utf8'))).toEqual({
      pid: agent.pid,
      since: expect.any(String),
    });
    expect(await residentMiB(agent.pid)).toBeLessThan(150);
  });

  it('runs nothing of a command that it does not wholly understand', async () => {
    const marker = host.at('/tmp/ran');
    const unknown = await command(name, [shell(`touch ${marker}`), step('make-coffee')]);
    expect(states(await ended(unknown))).toEqual(['shell Cancelled 0', 'make-coffee Failed 0']);
    const invalid = await command(name, [
      shell(`touch ${marker}`),
      step('collect', { path: 'no/path', secret: 'canary-1' }),
    ]);
    const found = await ended(invalid);
    expect(states(found)).toEqual(['shell Cancelled 0', 'collect Failed 0']);
    expect(found.steps?.[1]?.error?.code).toBe('BKE_STEP_INVALID');
    expect(JSON.stringify(found)).not.toContain('canary-1');
    const forbidden = await command(name, [step('shell', { command: `touch ${marker}` })]);
    expect((await ended(forbidden)).steps?.[0]?.error?.code).toBe('BKE_SHELL_NOT_ALLOWED');
    await expect(stat(marker)).rejects.toThrow('ENOENT');
  });

  it('carries out no command twice, none of a former leader, and nothing because its inbox vanished', async () => {
    const log = host.at('/tmp/ran');
    const first = await command(name, [shell(`echo first >> ${log}`)]);
    await ended(first);
    await ended(await command(name, [shell(`echo second >> ${log}`)], { leaseGeneration: 5 }));
    await server.client.delete({ ...commandKind, namespace, name });
    // As from a backup: its status is gone with the object.
    await command(name, [shell(`echo first >> ${log}`)], { commandID: first, leaseGeneration: 5 });
    expect((await ended(first)).steps?.[0]?.error?.code).toBe('BKE_COMMAND_REPEATED');
    await server.client.delete({ ...commandKind, namespace, name });
    const stale = await command(name, [shell(`echo stale >> ${log}`)], { leaseGeneration: 4 });
    expect((await ended(stale)).steps?.[0]?.error?.code).toBe('BKE_COMMAND_STALE');
    expect(await readFile(log, 'utf8')).toBe('first\nsecond\n');
    await agent.end('SIGTERM');
    agent = startAgent(host);
    await ended(await command(name, [shell(`echo third >> ${log}`)], { leaseGeneration: 5 }));
    expect(await readFile(log, 'utf8')).toBe('first\nsecond\nthird\n');
    // Installed anew after a reset: it knows nothing of what was done before.
    await agent.end('SIGTERM');
    for (const path of [agentPaths.taken, agentPaths.command]) await unlink(host.at(path));
    agent = startAgent(host);
    const heard = async (): Promise<true | undefined> =>
      (await readFile(host.at(agentPaths.contact), 'utf8')).includes(`"pid":${agent.pid},`) || undefined;
    await until('the first heartbeat', heard, agent.log);
    await pause(1000);
    await ended(await command(name, [shell(`echo fourth >> ${log}`)], { leaseGeneration: 5 }));
    expect(await readFile(log, 'utf8')).toBe('first\nsecond\nthird\nfourth\n');
  });

  it('ends a cancelled command at its next safe point, and takes the next one', async () => {
    const id = await command(name, [shell('sleep 30'), step('ping')]);
    await running(id);
    await server.client.patch(
      { ...commandKind, namespace, name },
      { spec: { cancelRequested: true } },
      { type: 'merge', fieldManager: 'test' },
    );
    expect(states(await ended(id))).toEqual(['shell Cancelled 1', 'ping Cancelled 0']);
    expect(states(await ended(await command(name, [step('ping')])))).toEqual(['ping Done 1']);
  });

  it('goes on with a step after kill -9, and with a download where it broke off', async () => {
    const artifact = (program: string): Record<string, unknown> => ({
      name: program,
      version: 'v1.0.0',
      type: 'binary',
      url: `https://localhost:${site.port}/${program}`,
      digest: site.digest(program),
    });
    const artifacts = { kubeadm: artifact('kubeadm'), kubelet: artifact('kubelet'), kubectl: artifact('kubectl') };
    site.stalled = true;
    const id = await command(name, [
      step('node/environment', { nodeName: name, nodeIP: '10.0.0.9' }),
      step('node/kubernetes', { artifacts, nodeIP: '10.0.0.9', settings: { kubelet: {}, kubeProxy: {} } }),
    ]);
    await until('half a download', async () => ((await partSize('kubelet')) ?? 0) > 100_000 || undefined, agent.log);
    await agent.end('SIGKILL');
    site.stalled = false;
    agent = startAgent(host);
    const found = await ended(id);
    expect(states(found), JSON.stringify(found)).toEqual(['node-environment Done 1', 'node-kubernetes Done 2']);
    expect(site.requests).toContain('kubelet 150000');
    const ledger = await readFile(host.at('/var/lib/bke/ledger/ledger.jsonl'), 'utf8');
    expect(ledger).toContain(agentPaths.artifacts);
  });

  const partSize = async (program: string): Promise<number | undefined> => {
    const path = `${host.at(agentPaths.artifacts)}/sha256/${site.digest(program).slice(7)}.part`;
    return stat(path).then(
      ({ size }) => size,
      () => undefined,
    );
  };

  it('works on while no API server answers, and tells then', async () => {
    const [gate, log] = [host.at('/tmp/gate'), host.at('/tmp/ran')];
    const id = await command(name, [
      shell(`while ! test -e ${gate}; do sleep 0.1; done; echo done >> ${log}`),
      step('ping'),
    ]);
    await running(id);
    await server.killApiServer();
    try {
      await writeFile(gate, '');
      await until('the step itself', async () => readFile(log, 'utf8').catch(() => undefined), agent.log);
    } finally {
      await server.startApiServerAgain();
    }
    expect(states(await ended(id))).toEqual(['shell Done 1', 'ping Done 1']);
  });

  it('ends by itself some time after its work, to be started anew with less memory, and never before any', async () => {
    await agent.end('SIGTERM');
    agent = startAgent(host, 300);
    await until('its first heartbeat', async () => (agent.log().includes('hears') ? true : undefined), agent.log);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(agent.exit()).toBeUndefined();
    const id = await command(name, [step('ping')]);
    expect(await until('its end', async () => agent.exit(), agent.log)).toBe(0);
    expect(states(await ended(id))).toEqual(['ping Done 1']);
  });

  it('exchanges the token it came with for one of its own, and keeps both to itself', async () => {
    const renewed = await until(
      'a token of its own',
      async () => {
        const text = await readFile(host.at(agentPaths.token), 'utf8');
        return text === enrolled ? undefined : text;
      },
      agent.log,
    );
    expect(lifeOf(renewed)).toBe(30 * 24 * 3600);
    expect((await stat(host.at(agentPaths.token))).mode & 0o777).toBe(0o600);
    const found = await ended(await command(name, [step('ping')]));
    const seen = `${JSON.stringify(found)}${agent.log()}`;
    for (const token of [enrolled, renewed]) expect(seen).not.toContain(token.slice(-40));
    expect(await agent.end('SIGTERM')).toBe(0);
  });
});
