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
const ownFiles = ['provider/components', ...ownDefinitions.map((name) => `crds/${name}`)];

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
  const texts = [...(await ownManifests()), ...(await manifestsOfProviders())];
  await applyObjects(
    client,
    texts.flatMap((text) => parseManifests(text)),
  );
  await ensureManagementCa(client, { now: new Date() });
  await reconcileCertificates(client, { now: new Date(), warn: () => undefined });
}

/** Of Cluster API no more than what a cluster is made of and controllers watch; nobody answers for its webhooks. */
const needed = ['clusters', 'machines', 'machinedeployments', 'kubeadmcontrolplanes', 'kubeadmconfigtemplates'];

export async function installOwn(client: KubeClient): Promise<void> {
  await installBke(client);
  await installClusterApi(client);
}

/** Without the definitions of Cluster API that its controllers watch. */
export async function installBke(client: KubeClient): Promise<void> {
  await applyObjects(
    client,
    (await ownManifests()).flatMap((text) => parseManifests(text)),
  );
}

export async function installClusterApi(client: KubeClient): Promise<void> {
  const names = ['cluster-api-core', 'cluster-api-bootstrap-kubeadm', 'cluster-api-control-plane-kubeadm'] as const;
  const files = await Promise.all(names.map(async (name) => readFile(await clusterApiComponents(name, {}), 'utf8')));
  const theirs = files
    .flatMap((text) => parseManifests(text))
    .filter(
      ({ kind, metadata }) =>
        kind === 'CustomResourceDefinition' && needed.includes(metadata.name.split('.', 1)[0] ?? ''),
    );
  await applyObjects(client, theirs);
}

function ownManifests(): Promise<string[]> {
  return Promise.all(ownFiles.map((name) => readFile(new URL(`${name}.yaml`, assets), 'utf8')));
}

async function manifestsOfProviders(): Promise<string[]> {
  const files = providers.flatMap(({ file }) => file ?? []);
  return Promise.all(files.map(async (file) => readFile(await clusterApiComponents(file, {}), 'utf8')));
}

async function applyObjects(client: KubeClient, all: readonly KubeObject[]): Promise<void> {
  const objects = all.filter(({ kind }) => kinds.includes(kind)).map(withInjection);
  await applyAll(client, [...objects, ...clustersNamespaceObjects(clustersNamespace)], {
    fieldManager: 'test',
    signal: AbortSignal.timeout(60_000),
  });
}

/** As bke installs them: its own label in place of cert-manager's annotation. */
function withInjection(object: KubeObject): KubeObject {
  const asked = object.metadata.annotations?.['cert-manager.io/inject-ca-from'];
  return asked === undefined ? object : withLabels(object, { [injectCa.label]: injectCa.value });
}
