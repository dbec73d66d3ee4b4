import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../../../src/host/host.ts';
import { imagesTask } from '../../../../src/tasks/node/images.ts';
import type { TaskScope } from '../../../../src/tasks/task.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

const images = ['registry.k8s.io/etcd:3.6.8-0', 'registry.k8s.io/coredns/coredns:v1.14.2'];
let machine: TaskHost;

beforeEach(async () => {
  machine = await taskHost();
  await mkdir(join(machine.root, 'usr/local/bin'), { recursive: true });
  await writeFile(join(machine.root, 'usr/local/bin/crictl'), '');
});
afterEach(() => machine.remove());

/** Runs the task with a containerd that has `present` and answers pulls so; returns what was pulled. */
async function pulled(present: readonly string[], answer: Partial<RunResult> = {}): Promise<string[]> {
  const found: string[] = [];
  await machine.run((scope) => {
    const run: TaskScope['host']['run'] = async ([, verb, last]) => {
      if (verb === 'images')
        return { exitCode: 0, stdout: JSON.stringify({ images: [{ repoTags: present }] }), stderr: '' };
      found.push(last ?? '');
      return { exitCode: 0, stdout: '', stderr: '', ...answer };
    };
    const host = new Proxy(scope.host, { get: (target, name) => (name === 'run' ? run : Reflect.get(target, name)) });
    return imagesTask.run({ ...scope, host }, { images, registryHost: 'deploy.bke.internal:40443' });
  });
  return found;
}

describe('the images of a node', () => {
  it('are pulled where containerd lacks them', async () => {
    expect(await pulled([images[0] ?? ''])).toEqual([images[1]]);
    expect(await pulled(images)).toEqual([]);
  });

  it('are named when they cannot be pulled, with the reason', async () => {
    const stderr = 'time=x level=info\nrpc error: code = NotFound\n';
    await expect(pulled([images[1] ?? ''], { exitCode: 1, stderr })).rejects.toMatchObject({
      code: 'BKE_PULL_FAILED',
      message:
        'registry.k8s.io/etcd:3.6.8-0 cannot be pulled from deploy.bke.internal:40443: rpc error: code = NotFound',
    });
  });
});
