// What is proved last of a management cluster, and that its own programs are among it.
import { expect, it } from 'vitest';
import { managementPhases } from '../../../../src/tasks/cluster-api/phases.ts';
import { taskHost } from '../../../fakes/task-host.ts';

it('ends with the proof that the cluster is still ready when all of Cluster API runs', async () => {
  const trouble = new Error('kube-apiserver: container kube-apiserver runs and is not ready');
  const phases = managementPhases({
    host: 'node',
    cluster: { kubeconfig: '/etc/kubernetes/admin.conf', ready: () => Promise.reject(trouble) },
    catalogue: { name: 'r', version: '1.0.0', kubernetesVersions: [], files: [], images: [], charts: [] },
    platform: 'linux/amd64',
    filesDir: '/opt/bke/files',
    bkeVersion: '1.0.0',
    site: {
      domain: 'deploy.bke.internal',
      hostIP: '192.0.2.10',
      ports: { registry: 40_443, files: 40_080, charts: 38_080 },
      ca: () => '',
      servers: [],
    },
    now: () => new Date(),
  });
  const last = phases.at(-1)?.chains[0]?.steps.at(-1);
  const machine = await taskHost();
  try {
    await expect(machine.run(async (scope) => last?.run(scope))).rejects.toThrow(trouble.message);
  } finally {
    await machine.remove();
  }
});
