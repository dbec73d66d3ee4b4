import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { digestOf } from '../../../../src/lib/digest.ts';
import { prepareStep } from '../../../../src/tasks/registry.ts';
import type { StepContext, StepResult } from '../../../../src/tasks/steps/step.ts';
import { testAgentConfig } from '../../../fakes/agent-config.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

describe('steps of a command', () => {
  let machine: TaskHost;
  beforeEach(async () => {
    machine = await taskHost();
    await mkdir(`${machine.root}/var/log/pods`, { recursive: true });
  });
  afterEach(() => machine.remove());

  const run = async (
    task: string,
    parameters: unknown,
    context: Partial<StepContext> = {},
  ): Promise<StepResult | undefined> => {
    const step = await prepareStep(task, parameters);
    let result: StepResult | undefined;
    await machine.run(async (scope) => {
      const rest = {
        ledger: undefined,
        settings: testAgentConfig,
        artifactsDir: '/nowhere',
        readInbox: async () => new Map(),
      };
      result = (await step.run({ scope, ...rest, ...context })) ?? undefined;
    });
    return result;
  };
  const collect = async (parameters: object): Promise<string> => {
    const data = (await run('collect', parameters))?.['data'];
    return Buffer.from(typeof data === 'string' ? data : 'none', 'base64').toString();
  };

  it('are refused where the task is unknown, and with every problem of their parameters', async () => {
    await expect(prepareStep('make-coffee', {})).rejects.toMatchObject({ code: 'BKE_STEP_UNKNOWN' });
    const wrong = prepareStep('node/environment', { nodeName: 7, extra: true });
    await expect(wrong).rejects.toMatchObject({
      code: 'BKE_STEP_INVALID',
      message: expect.stringMatching(/nodeName.*nodeIP.*extra/s),
    });
    const artifact = { name: '../../etc', version: '1', type: 'binary', url: 'http://x/y', digest: 'sha256:0' };
    const artifacts = { kubeadm: artifact, kubelet: artifact, kubectl: artifact };
    await expect(
      prepareStep('node/kubernetes', { artifacts, nodeIP: '10.0.0.1', settings: { kubelet: {}, kubeProxy: {} } }),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/kubeadm\.name.*kubeadm\.url.*kubeadm\.digest/s),
    });
  });

  it('say which of them change the host', async () => {
    const changes = async (task: string, parameters: object): Promise<boolean> =>
      (await prepareStep(task, parameters)).changes;
    expect(await changes('ping', {})).toBe(false);
    expect(await changes('collect', { path: '/var/log/a' })).toBe(false);
    expect(await changes('reset', {})).toBe(true);
    expect(await changes('node/images', { images: [], registryHost: 'x' })).toBe(true);
  });

  it('read a piece of a log from either end, never more than was asked for', async () => {
    await writeFile(`${machine.root}/var/log/a.log`, 'x'.repeat(300_000) + 'the end');
    expect(await collect({ path: '/var/log/a.log', offset: -7 })).toBe('the end');
    expect(await collect({ path: '/var/log/a.log', offset: 299_998, length: 5 })).toBe('xxthe');
    expect(await collect({ path: '/var/log/a.log' })).toHaveLength(65_536);
    expect(await collect({ path: '/var/log/a.log', offset: 900_000 })).toBe('');
    await expect(prepareStep('collect', { path: '/var/log/a.log', length: 65_537 })).rejects.toMatchObject({
      code: 'BKE_STEP_INVALID',
    });
  });

  it('read nothing but logs, wherever a link leads', async () => {
    await symlink(`${machine.root}/etc/shadow`, `${machine.root}/var/log/pods/shadow`);
    for (const path of [
      '/etc/shadow',
      '/var/log/../../etc/shadow',
      '/var/log/pods/shadow',
      '/var/lib/bke/agent/token',
      '/var/log/none',
      '/var/log/pods',
    ]) {
      await expect(run('collect', { path }), path).rejects.toMatchObject({ code: 'BKE_COLLECT_REFUSED' });
    }
  });

  it('look for every program that the check is about', async () => {
    const look = vi.spyOn(machine.host, 'run').mockRejectedValue(new Error('seen enough'));
    const needs = { ports: [], space: [], tools: ['losetup', 'groupadd'], reachable: [], runtime: true };
    await expect(run('environment-check', { needs })).rejects.toThrow('seen enough');
    expect(look.mock.lastCall?.[1]?.env).toMatchObject({ BKE_TOOLS: 'losetup groupadd' });
  });

  it('take no other bootstrap data than the command means', async () => {
    const metadata = { hostname: 'w1', address: '10.0.0.9', instanceID: 'claim-1' };
    const meant = { metadata, digest: digestOf('#cloud-config\n') };
    const inbox = (data: Record<string, string>): Partial<StepContext> => ({
      readInbox: async () => new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)])),
    });
    for (const data of [{}, { value: 'canary: of another machine\n' }]) {
      const refused = run('bootstrap-data', meant, inbox(data));
      await expect(refused).rejects.toMatchObject({
        code: 'BKE_INBOX_EMPTY',
        message: expect.not.stringContaining('canary'),
      });
    }
    const wrong = '#cloud-config\nno_such_module: canary\n';
    const invalid = run('bootstrap-data', { metadata, digest: digestOf(wrong) }, inbox({ value: wrong }));
    await expect(invalid).rejects.toMatchObject({ code: 'BKE_BOOTSTRAP_DATA_INVALID' });
  });

  it('run no command of a person where the host does not allow it', async () => {
    await expect(run('shell', { command: 'true' })).rejects.toMatchObject({ code: 'BKE_SHELL_NOT_ALLOWED' });
    expect(await run('shell', { command: 'true', allowShell: true })).toMatchObject({ exitCode: 127 });
  });
});
