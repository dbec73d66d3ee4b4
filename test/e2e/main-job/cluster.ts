// The new cluster as its users see it: nodes, names, Services across nodes, and what heals by itself.
import { expect, it } from 'vitest';
import { z } from 'zod';
import { outcome } from '../helpers/bke-host.ts';
import { clusterKubeconfig, clusterName, type MainJob } from './job.ts';

/** A server on w2, and a client on w1 that knows it by its Service. */
const app = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: server, namespace: default}
spec:
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      nodeSelector: {kubernetes.io/hostname: w2}
      containers: [{name: probe, image: "docker.io/library/bke-probe:v1", args: [serve]}]
---
apiVersion: v1
kind: Service
metadata: {name: server, namespace: default}
spec:
  selector: {app: server}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: client, namespace: default}
spec:
  selector: {matchLabels: {app: client}}
  template:
    metadata: {labels: {app: client}}
    spec:
      nodeSelector: {kubernetes.io/hostname: w1}
      terminationGracePeriodSeconds: 1
      containers: [{name: probe, image: "docker.io/library/bke-probe:v1", args: [sleep]}]
`;

const podList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), uid: z.string(), deletionTimestamp: z.string().optional() }),
      status: z.object({
        conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
      }),
    }),
  ),
});

/** What comes again by itself has this long, on a machine with much to do. */
const patience = { timeout: 180_000, interval: 1000 };

/** Registers the tests. */
export function clusterTests(job: () => MainJob): void {
  it('refuses init on a node of it, before anything there is changed', async () => {
    const result = await job().w1.exec('bke init --bootstrap kubeadm --yes');
    expect(result.exitCode, outcome(result)).toBe(7);
    expect(result.stderr).toContain('this host is a node of a cluster: host w1 in namespace bke');
    expect(await job().w1.output('test -e /etc/bke/services || echo none')).toBe('none');
  });

  it('gives a kubeconfig that only its owner reads, and three nodes are Ready', async () => {
    await job().done(`cluster kubeconfig ${clusterName} --to ${clusterKubeconfig}`);
    expect(await job().boot.output(`stat -c %a ${clusterKubeconfig}`)).toBe('600');
    expect(await nodes(job())).toEqual([
      expect.stringMatching(/^cp1 bke:\/\/bke\/cp1\/\S+ True$/),
      expect.stringMatching(/^w1 bke:\/\/bke\/w1\/\S+ True$/),
      expect.stringMatching(/^w2 bke:\/\/bke\/w2\/\S+ True$/),
    ]);
  });

  it('reaches a Service across nodes, by its name, from a pod pulled by its public name', async () => {
    await job().boot.output('cat >/root/app.yaml', { input: app });
    await job().cluster('apply -f /root/app.yaml');
    await expectReached(job());
  });

  it('is well again after all pods were deleted', async () => {
    const before = (await pods(job())).map(({ metadata: { uid } }) => uid);
    expect(before.length).toBeGreaterThan(10);
    await job().cluster('delete pods --all -A --wait=false');
    await expectWell(job(), before);
    await expectReached(job());
  });

  it('is well again after w1 was booted anew', async () => {
    const bootId = () => job().cluster(`get node w1 -o 'jsonpath={.status.nodeInfo.bootID}'`);
    const before = await bootId();
    await job().w1.stop();
    await job().w1.start();
    await expect.poll(bootId, patience).not.toBe(before);
    await expectWell(job());
    await expectReached(job());
    const { stdout } = await job().done(`host list -o json`);
    expect(stdout).toContain('"w1"');
  });
}

/** Each with its provider ID and whether it is Ready. */
async function nodes(job: MainJob): Promise<string[]> {
  const lines = await job.cluster(
    `get nodes -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.providerID} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}'`,
  );
  return lines.trim().split('\n').toSorted();
}

async function pods(job: MainJob): Promise<z.infer<typeof podList>['items']> {
  return podList.parse(JSON.parse(await job.cluster('get pods -A -o json'))).items;
}

/** Waits until every node and every pod is ready, and none of these pods is there. */
async function expectWell(job: MainJob, gone: readonly string[] = []): Promise<void> {
  await job.cluster('wait --for=condition=Ready nodes --all --timeout=180s');
  const troubled = async (): Promise<string[]> =>
    (await pods(job))
      .filter(
        ({ metadata: { uid, deletionTimestamp }, status: { conditions } }) =>
          gone.includes(uid) ||
          deletionTimestamp !== undefined ||
          !conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
      )
      .map(({ metadata: { name } }) => name);
  await expect.poll(troubled, patience).toEqual([]);
}

async function expectReached(job: MainJob): Promise<void> {
  for (const name of ['server', 'client']) await job.cluster(`rollout status deployment/${name} --timeout=120s`);
  const words = 'exec deployment/client -- /probe get http://server.default.svc.cluster.local/hello 60';
  expect(await job.cluster(words)).toMatch(/^server-\S+ \/hello\s*$/);
}
