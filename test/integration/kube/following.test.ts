// Informers and leases against an API server that is killed and comes back.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient, KubeObject } from '../../../src/kube/client.ts';
import { textAt } from '../../../src/kube/fields.ts';
import { type Change, type Informer, startInformer } from '../../../src/kube/informer.ts';
import { holdLease } from '../../../src/kube/lease.ts';
import { startApiServer, type TestApiServer } from './api-server.ts';

let server: TestApiServer;
let client: KubeClient;
let ending = new AbortController();
/** Of before the API server was killed. */
let oldVersion = '';
const children: ChildProcess[] = [];

beforeAll(async () => {
  server = await startApiServer();
  client = server.client;
});
afterEach(() => {
  ending.abort();
  ending = new AbortController();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await server.stop();
});

const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
const configMap = (name: string, data: Record<string, string> = {}): KubeObject => ({
  ...kind,
  metadata: { namespace: 'default', name },
  data,
});
const apply = (name: string, data: Record<string, string> = {}): Promise<KubeObject> =>
  client.apply(configMap(name, data), { fieldManager: 'test' });
const remove = (name: string): Promise<boolean> => client.delete({ ...kind, namespace: 'default', name });
const backOff = { firstMs: 100, mostMs: 500 };

interface Follower {
  readonly informer: Informer;
  /** 'added a', … */
  readonly told: string[];
}

function follow(as: Pick<KubeClient, 'list' | 'watch'> = client): Follower {
  const told: string[] = [];
  const onChange = ({ type, object }: Change): void => void told.push(`${type} ${object.metadata.name}`);
  const list = { namespace: 'default' };
  return { told, informer: startInformer({ client: as, kind, list, signal: ending.signal, onChange }, backOff) };
}

async function until(probe: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await probe())) {
    expect(performance.now()).toBeLessThan(end);
    await pause(20);
  }
}

describe('informer', () => {
  it('tells what is there and every change, and ends with its signal', async () => {
    await apply('a');
    const { informer, told } = follow();
    await informer.synced();
    expect(told).toContain('added a');
    told.length = 0;
    await apply('b');
    await apply('a', { x: '1' });
    await remove('b');
    await until(() => told.length === 3);
    expect(told).toEqual(['added b', 'changed a', 'deleted b']);
    expect(informer.get('a', 'default')).toMatchObject({ data: { x: '1' } });
    expect(informer.get('b', 'default')).toBeUndefined();
    expect(informer.state()).toMatchObject({ syncedSince: expect.any(Date), lastError: undefined });
    ending.abort();
    await informer.ended;
    await apply('c');
    expect(told).toHaveLength(3);
    expect(informer.state().syncedSince).toBeUndefined();
  });

  it('goes on where it was when the API server was killed and came back', async () => {
    for (const name of ['stays', 'goes', 'is-made-anew']) await apply(name);
    const { informer, told } = follow();
    await informer.synced();
    told.length = 0;
    oldVersion = (await client.list(kind)).resourceVersion;
    await apply('later');
    await server.killApiServer();
    await until(() => informer.state().lastError !== undefined);
    expect(informer.state().syncedSince).toBeUndefined();
    expect(informer.state().lastError?.message).toContain('no API server answers');
    expect(informer.get('stays', 'default')).toBeDefined();
    await server.startApiServerAgain();
    await remove('goes');
    await remove('is-made-anew');
    await apply('is-made-anew');
    await apply('comes');
    await until(() => informer.state().syncedSince !== undefined && informer.get('comes', 'default') !== undefined);
    await until(() => informer.get('goes', 'default') === undefined);
    const expected = ['added comes', 'added is-made-anew', 'added later', 'deleted goes', 'deleted is-made-anew'];
    expect(told.toSorted()).toEqual(expected);
  });

  it('lists anew where the history it was at is gone', async () => {
    // The API server that was started since has no history of it.
    const old = { resourceVersion: oldVersion, signal: ending.signal };
    const watch = client.watch(kind, old)[Symbol.asyncIterator]();
    await expect(watch.next().then(() => watch.next())).rejects.toMatchObject({ code: 'BKE_KUBE_EXPIRED' });
    const versions: string[] = [];
    let lists = 0;
    const behind: Pick<KubeClient, 'list' | 'watch'> = {
      list: async (...args) => {
        lists += 1;
        const list = await client.list(...args);
        return lists === 1 ? { items: list.items.slice(1), resourceVersion: oldVersion } : list;
      },
      watch: (watched, options) => {
        versions.push(options.resourceVersion);
        return client.watch(watched, options);
      },
    };
    const { informer } = follow(behind);
    await informer.synced();
    await until(() => lists === 2 && informer.state().syncedSince !== undefined);
    expect(informer.items()).toHaveLength((await client.list(kind, { namespace: 'default' })).items.length);
    expect(versions[0]).toBe(oldVersion);
    expect(informer.state().lastError?.message).toContain('too old resource version');
  });

  it('keeps asking where it is forbidden, and begins once it is allowed', async () => {
    await client.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: 'default', name: 'reader' },
    });
    const reader = await server.clientOf('default', 'reader');
    try {
      const { informer } = follow(reader);
      await until(() => informer.state().lastError?.message.includes('cannot list resource') === true);
      const rbac = 'rbac.authorization.k8s.io';
      const metadata = { namespace: 'default', name: 'reader' };
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }];
      await client.create({ apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules });
      const roleRef = { apiGroup: rbac, kind: 'Role', name: 'reader' };
      const subjects = [{ kind: 'ServiceAccount', ...metadata }];
      await client.create({ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata, roleRef, subjects });
      await informer.synced();
      expect(informer.get('a', 'default')).toBeDefined();
    } finally {
      ending.abort();
      reader.close();
    }
  });
});

const timing = { durationMs: 2000, renewDeadlineMs: 1200, requestTimeoutMs: 600, retryMs: 200 };

describe('lease', () => {
  const options = (name: string, identity: string) => ({ client, namespace: 'default', name, identity, timing });

  it('has one holder, and another one at once when it is given back', async () => {
    const holders = ['one', 'two', 'three'].map((identity) => holdLease(options('given', identity), ending.signal));
    const first = await Promise.race(holders);
    let others = 0;
    const rest = holders.map(async (holder) => {
      const lease = await holder;
      if (lease !== first) others += 1;
      return lease;
    });
    await pause(timing.durationMs + 500);
    expect(others).toBe(0);
    expect(first.signal.aborted).toBe(false);
    await first.release();
    expect(first.signal.aborted).toBe(true);
    const released = performance.now();
    await until(() => others === 1);
    expect(performance.now() - released).toBeLessThan(1000);
    ending.abort();
    await Promise.allSettled(rest);
  });

  interface Victim {
    readonly child: ChildProcess;
    /** Nothing else runs in it for so long. */
    readonly block: (ms: number) => void;
    /** How often it has written. */
    readonly writes: () => Promise<string>;
  }

  async function startVictim(name: string): Promise<Victim> {
    const program = path.join(import.meta.dirname, 'lease-cli.ts');
    const child = spawn(process.execPath, [program, server.kubeconfig, name, 'victim'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(child);
    expect(String((await once(child.stdout, 'data'))[0])).toBe('held\n');
    const names = ['0', '1', '2', '3'].map((index) => `${name}-${index}`);
    return {
      child,
      block: (ms) => void child.stdin.write(`${ms}\n`),
      writes: async () => {
        const found = await Promise.all(names.map((one) => client.get({ ...kind, namespace: 'default', name: one })));
        return found.map((object) => textAt(object, 'data', 'count') ?? '').join(' ');
      },
    };
  }

  it('goes to another one after its holder was killed, and not before its time', async () => {
    const { child } = await startVictim('killed');
    const causes: string[] = [];
    const next = holdLease({ ...options('killed', 'next'), onWait: (cause) => causes.push(cause) }, ending.signal);
    await until(() => causes.length > 0);
    expect(causes[0]).toBe('victim holds it');
    const killed = performance.now();
    child.kill('SIGKILL');
    const lease = await next;
    const took = performance.now() - killed;
    // The victim's last renewal was at most a retry before its end.
    expect(took).toBeGreaterThan(timing.durationMs - 2 * timing.retryMs);
    expect(took).toBeLessThan(timing.durationMs + 2000);
    expect(
      await client.get({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'default', name: 'killed' }),
    ).toMatchObject({
      spec: { holderIdentity: 'next', leaseTransitions: 1 },
    });
    await lease.release();
  });

  it('lets a holder that was blocked or stopped write nothing once it goes on', async () => {
    const oneVictim = async (how: 'blocked' | 'stopped'): Promise<void> => {
      const { child, block, writes } = await startVictim(how);
      await until(async () => Number((await writes()).split(' ', 1)[0]) > 20);
      const next = holdLease(options(how, 'next'), ending.signal);
      if (how === 'blocked') block(timing.durationMs + 2500);
      else child.kill('SIGSTOP');
      const lease = await next;
      // What it had sent before may still be on its way through a busy API server.
      await pause(500);
      const before = await writes();
      const lost = once(child.stdout ?? child, 'data');
      if (how === 'stopped') child.kill('SIGCONT');
      expect(String((await lost)[0])).toBe('lost\n');
      await pause(500);
      // It runs and would write: dozens of times a second, before.
      expect(child.exitCode).toBeNull();
      expect(await writes()).toBe(before);
      child.kill('SIGKILL');
      await lease.release();
    };
    await Promise.all([oneVictim('blocked'), oneVictim('stopped')]);
  });

  it('is no longer waited for when its signal is aborted', async () => {
    const held = await holdLease(options('waited', 'one'), ending.signal);
    const stop = new AbortController();
    const waiting = holdLease(options('waited', 'two'), stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await held.release();
  });

  it('is told as lost in time when the API server is gone, and by whom when somebody took it', async () => {
    const taken = await holdLease(options('taken', 'one'), ending.signal);
    const spec = { spec: { holderIdentity: 'thief', leaseDurationSeconds: 60 } };
    const key = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'default', name: 'taken' };
    await client.patch(key, spec, { type: 'merge', fieldManager: 'thief' });
    await until(() => taken.signal.aborted);
    expect(taken.signal.reason).toMatchObject({ message: 'the lease was lost: thief holds it' });

    const lease = await holdLease(options('gone', 'one'), ending.signal);
    await server.killApiServer();
    const killed = performance.now();
    await once(lease.signal, 'abort');
    expect(performance.now() - killed).toBeLessThan(timing.renewDeadlineMs + 200);
    expect(lease.signal.reason).toMatchObject({ code: 'BKE_KUBE_CONFLICT' });
    // It runs out by itself where it cannot be given back.
    await lease.release();
  });
});
