// The components of bke's own provider: clusterctl's contract, and as few rights as it can do with.
import { readFile } from 'node:fs/promises';
import { parse, parseAllDocuments } from 'yaml';
import { expect, it } from 'vitest';
import { z } from 'zod';

const folder = new URL('../../../assets/provider/', import.meta.url);
const object = z.looseObject({
  kind: z.string(),
  metadata: z.object({
    name: z.string(),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
});
const rule = z.object({
  resources: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
  verbs: z.array(z.string()),
});
const role = z.object({ rules: z.array(rule) });
const text = await readFile(new URL('components.yaml', folder), 'utf8');
const objects = parseAllDocuments(text).map((document) => object.parse(document.toJS()));

function find(kind: string): unknown {
  return objects.find((one) => one.kind === kind);
}

it('has exactly one namespace, the label of its provider on every object, and nothing in another namespace', () => {
  expect(objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)).toEqual([
    'bke-system',
  ]);
  const labels = objects.map(({ metadata }) => metadata.labels['cluster.x-k8s.io/provider']);
  expect(new Set(labels)).toEqual(new Set(['infrastructure-bke']));
  const namespaces = objects.flatMap(({ metadata }) => metadata.namespace ?? []);
  expect(new Set(namespaces)).toEqual(new Set(['bke-system']));
});

it('has no variable but its image', () => {
  expect(new Set(text.match(/\$\{?\w+\}?/g))).toEqual(new Set(['${BKE_IMAGE}']));
});

it('runs the container manager without rights on a root that it cannot write', () => {
  expect(find('Deployment')).toMatchObject({
    spec: {
      replicas: 1,
      template: {
        spec: {
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'manager',
              args: ['controller', 'run'],
              securityContext: {
                allowPrivilegeEscalation: false,
                privileged: false,
                readOnlyRootFilesystem: true,
                runAsUser: 65_532,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  });
});

it('may change only what is named, and touches no Secret without a name, but in namespaces of clusters', () => {
  const roles = objects.filter(({ kind }) => kind.endsWith('Role'));
  const bound = objects.filter(({ kind }) => kind.endsWith('RoleBinding')).map(({ metadata }) => metadata.name);
  const everywhere = roles.filter(({ metadata }) => bound.includes(metadata.name));
  expect(roles.filter((one) => !everywhere.includes(one)).map(({ metadata }) => metadata.name)).toEqual([
    'bke-controller-clusters',
  ]);
  const rules = everywhere.flatMap((one) => role.parse(one).rules);
  expect(rules.length).toBeGreaterThan(6);
  const unnamed = rules.filter(({ resourceNames }) => resourceNames === undefined);
  const allowed = ['get', 'list', 'watch'];
  const changing = unnamed.filter(({ verbs }) => verbs.some((verb) => !allowed.includes(verb)));
  // bke's own kinds everywhere: what is held in a namespace that is deleted must be let go without the rights that were given there.
  expect(changing.map(({ resources }) => resources)).toEqual([
    ['leases'],
    ['events'],
    ['bkehosts', 'bkehosts/status'],
    ['bkeclusters', 'bkeclusters/status', 'bkemachines', 'bkemachines/status'],
  ]);
  expect(unnamed.flatMap(({ resources }) => resources)).not.toContain('secrets');
  const all = roles.flatMap((one) => role.parse(one).rules);
  expect(all.flatMap(({ resources, verbs }) => [...resources, ...verbs])).not.toContain('*');
});

it('names the contract of its own release', async () => {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(new URL('../../package.json', folder), 'utf8')));
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const metadata: unknown = parse(await readFile(new URL('metadata.yaml', folder), 'utf8'));
  expect(metadata).toMatchObject({ kind: 'Metadata', releaseSeries: [{ major, minor, contract: 'v1beta2' }] });
});
