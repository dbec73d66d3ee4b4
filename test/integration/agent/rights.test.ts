// What the credential of one host's agent is good for: everything that an API server can be asked is tried, against the real RBAC.
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentObjects } from '../../../src/api/agent-config.ts';
import { agentAccess } from '../../../src/cluster/agent-access.ts';
import { applyAll } from '../../../src/kube/apply.ts';
import type { KubeObject } from '../../../src/kube/client.ts';
import { parseManifests } from '../../../src/kube/manifests.ts';
import { startApiServer, type TestApiServer } from '../kube/api-server.ts';
import { type Asked, type Bearer, everyRequest, notForbidden } from './every-request.ts';

const namespace = 'bke';
const bke = 'bke.io/v1alpha1';
const hosts = ['mine', 'other'];
const { account, inbox, hostCommand } = agentObjects('mine');
const core = `/api/v1/namespaces/${namespace}`;

let server: TestApiServer;
let bearer: Bearer;

beforeAll(async () => {
  server = await startApiServer();
  const files = (await readdir('assets/crds')).map((name) => readFile(`assets/crds/${name}`, 'utf8'));
  const definitions = (await Promise.all(files)).flatMap((text) => parseManifests(text));
  const space: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  const objects = [...definitions, space, ...hosts.flatMap(objectsOf)];
  await applyAll(server.client, objects, { fieldManager: 'test', signal: AbortSignal.timeout(60_000) });
  bearer = { url: server.url, ca: server.ca, token: await server.tokenOf(namespace, account) };
});
afterAll(() => server.stop());

/** What the controller makes for a host, and the host itself. */
function objectsOf(host: string): KubeObject[] {
  const spec = { commandID: 'none-yet', leaseGeneration: 0, steps: [] };
  return [
    ...agentAccess({ namespace, host }),
    {
      apiVersion: bke,
      kind: 'BKEHost',
      metadata: { namespace, name: host },
      spec: { address: '10.0.0.1', roles: ['worker'] },
    },
    { apiVersion: bke, kind: 'HostCommand', metadata: { namespace, name: host }, spec },
    { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: agentObjects(host).inbox } },
  ];
}

it('is its own command, inbox, lease and token, and nothing else of its host or of another one', async () => {
  const names = [...new Set(hosts.flatMap((host) => Object.values(agentObjects(host))))];
  const all = await everyRequest(server.client, { namespace, names });
  // Kinds of all groups, with their subresources.
  expect(all.length).toBeGreaterThan(1000);
  const own = `/apis/${bke}/namespaces/${namespace}/hostcommands/${hostCommand}`;
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${account}`;
  const allowed = [
    `GET ${own}`,
    `GET ${own}/status`,
    `PATCH ${own}/status`,
    `GET ${core}/secrets/${inbox}`,
    `POST ${core}/serviceaccounts/${account}/token`,
    `GET ${lease}`,
    `PATCH ${lease}`,
    // Who one is oneself, everybody may ask.
    'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
    'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    'POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
  ];
  expect(await notForbidden(all, bearer)).toEqual(allowed.toSorted());
});

it('is nothing of the server itself, and nobody else', async () => {
  const paths = ['/', '/metrics', '/logs/', '/debug/pprof/', '/configz'];
  const all = paths.map((path): Asked => ({ method: 'GET', path }));
  expect(await notForbidden(all, bearer)).toEqual([]);
  const secrets: Asked = { method: 'GET', path: `${core}/secrets` };
  for (const headers of [
    { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' },
    { 'impersonate-user': `system:serviceaccount:${namespace}:${agentObjects('other').account}` },
  ]) {
    expect(await notForbidden([secrets], bearer, headers)).toEqual([]);
  }
});
