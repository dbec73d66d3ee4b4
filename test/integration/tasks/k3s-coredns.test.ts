// The CoreDNS that bke brings to K3s, asked of a real API server: every object is one that it takes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isKubeObject } from '../../../src/kube/fields.ts';
import { readAsset } from '../../../src/lib/assets.ts';
import { fillTemplate } from '../../../src/lib/template.ts';
import { startApiServer, type TestApiServer } from '../kube/api-server.ts';

const image = 'registry.k8s.io/coredns/coredns:v1.14.2';

describe('the manifest of CoreDNS for K3s', () => {
  let server: TestApiServer;

  beforeAll(async () => {
    server = await startApiServer();
  });
  afterAll(() => server.stop());

  it('is taken by the API server as it is, and the second time changes nothing', async () => {
    const template = await readAsset('assets/k3s/coredns.yaml');
    const objects = parseAllDocuments(fillTemplate(template, { image, clusterDNS: '10.96.0.10' })).map(
      (document) => document.toJS() as unknown,
    );
    const versions: (string | undefined)[][] = [];
    for (let time = 0; time < 2; time += 1) {
      const made: (string | undefined)[] = [];
      for (const object of objects) {
        if (!isKubeObject(object)) throw new Error(`no object: ${JSON.stringify(object)}`);
        const applied = await server.client.apply(object, { fieldManager: 'test' });
        made.push(`${applied.kind} ${applied.metadata.name} ${applied.metadata.resourceVersion}`);
      }
      versions.push(made);
    }
    expect(versions[1]).toEqual(versions[0]);
    expect(versions[0]?.map((line) => line?.split(' ').slice(0, 2).join(' '))).toEqual([
      'ServiceAccount coredns',
      'ClusterRole system:coredns',
      'ClusterRoleBinding system:coredns',
      'ConfigMap coredns',
      'Deployment coredns',
      'Service kube-dns',
    ]);
  });
});
