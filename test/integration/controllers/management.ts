// What the controllers find in a management cluster: the providers' definitions and webhook configurations, their certificates, bke's own rights.
import { readFile } from 'node:fs/promises';
import { applyAll } from '../../../src/kube/apply.ts';
import type { KubeClient, KubeObject } from '../../../src/kube/client.ts';
import { parseManifests } from '../../../src/kube/manifests.ts';
import { reconcileCertificates } from '../../../src/tasks/cluster-api/certificates.ts';
import { clustersNamespaceObjects } from '../../../src/tasks/cluster-api/clusters-namespace.ts';
import { ownDefinitions } from '../../../src/tasks/cluster-api/components.ts';
import { injectCa } from '../../../src/tasks/cluster-api/inject-ca.ts';
import { ensureManagementCa } from '../../../src/tasks/cluster-api/management-ca.ts';
import { clustersNamespace, providers } from '../../../src/tasks/cluster-api/providers.ts';
import { withLabels } from '../../../src/tasks/cluster-api/render.ts';
import { clusterApiComponents } from '../../testbed/release/files.ts';

const assets = new URL('../../../assets/', import.meta.url);
const own = ['provider/components', ...ownDefinitions.map((name) => `crds/${name}`)];

/** All but what would run: no controller of the test cluster makes pods. */
const kinds = [
  'Namespace',
  'CustomResourceDefinition',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'ServiceAccount',
  'Role',
  'RoleBinding',
  'ClusterRole',
  'ClusterRoleBinding',
];

export async function installManagement(client: KubeClient): Promise<void> {
  const texts = await Promise.all(own.map((name) => readFile(new URL(`${name}.yaml`, assets), 'utf8')));
  for (const { file } of providers) {
    if (file !== undefined) texts.push(await readFile(await clusterApiComponents(file, {}), 'utf8'));
  }
  const objects = texts.flatMap((text) => parseManifests(text)).filter(({ kind }) => kinds.includes(kind));
  const all = [...objects.map(withInjection), ...clustersNamespaceObjects(clustersNamespace)];
  await applyAll(client, all, { fieldManager: 'test', signal: AbortSignal.timeout(60_000) });
  await ensureManagementCa(client, { now: new Date() });
  await reconcileCertificates(client, { now: new Date(), warn: () => undefined });
}

/** As bke installs them: its own label in place of cert-manager's annotation. */
function withInjection(object: KubeObject): KubeObject {
  const asked = object.metadata.annotations?.['cert-manager.io/inject-ca-from'];
  return asked === undefined ? object : withLabels(object, { [injectCa.label]: injectCa.value });
}
