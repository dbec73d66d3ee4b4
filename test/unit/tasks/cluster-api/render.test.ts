import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/client.ts';
import type { Provider } from '../../../../src/tasks/cluster-api/providers.ts';
import { renderProvider } from '../../../../src/tasks/cluster-api/render.ts';

const webhook = {
  service: 'hook',
  secret: 'hook-cert',
  probe: { name: 'x', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } } },
};
const provider: Provider = {
  name: 'bootstrap-x',
  providerName: 'x',
  type: 'BootstrapProvider',
  namespace: 'x-system',
  title: 'X',
  deployment: 'x-manager',
  image: 'example.com/x',
  featureGates: { RuntimeSDK: true, Unknown: true },
  webhook,
};

const options = {
  knownGates: new Set(['RuntimeSDK', 'MachinePool']),
  caBundle: 'Q0E=',
  image: (ref: string) => (ref.startsWith('example.com/') ? `${ref}@sha256:1` : undefined),
};

const object = (kind: string, name: string, rest: object = {}, apiVersion = 'v1'): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, labels: { own: 'kept' } },
  ...rest,
});

const deployment = (containers: object[]): KubeObject =>
  object(
    'Deployment',
    'x-manager',
    { spec: { replicas: 1, template: { spec: { containers, volumes: [] } } } },
    'apps/v1',
  );

const injected = (kind: string, rest: object, apiVersion: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', annotations: { 'cert-manager.io/inject-ca-from': 'x-system/cert', other: 'kept' } },
  ...rest,
});

const certificate = (spec: object): KubeObject => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name: 'cert', namespace: 'x-system' },
  spec,
});

function renderOne(one: KubeObject): KubeObject | undefined {
  return renderProvider(provider, [one], options)[0];
}

describe('what is applied for a provider', () => {
  it('carries the labels by which clusterctl finds it', () => {
    expect(renderOne(object('ServiceAccount', 'x'))).toEqual({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: {
        name: 'x',
        labels: { own: 'kept', 'clusterctl.cluster.x-k8s.io': '', 'cluster.x-k8s.io/provider': 'bootstrap-x' },
      },
    });
  });

  it('has images by digest, asks the registry only for what is not there, and has the gates that its manager knows', () => {
    const manager = { name: 'manager', image: 'example.com/x:v1', imagePullPolicy: 'Always', args: ['--a'], env: [] };
    const other = { name: 'other', image: 'example.com/y:v1', args: ['--b'] };
    expect(renderOne(deployment([manager, other]))?.['spec']).toEqual({
      replicas: 1,
      template: {
        spec: {
          volumes: [],
          containers: [
            {
              name: 'manager',
              image: 'example.com/x:v1@sha256:1',
              imagePullPolicy: 'IfNotPresent',
              args: ['--a', '--feature-gates=RuntimeSDK=true'],
              env: [],
            },
            { name: 'other', image: 'example.com/y:v1@sha256:1', imagePullPolicy: 'IfNotPresent', args: ['--b'] },
          ],
        },
      },
    });
  });

  it('is refused with every image that the release lacks', () => {
    const containers = ['foreign.io/a:v1', 'example.com/x:v1', 'foreign.io/b:v1'].map((image) => ({
      name: 'c',
      image,
    }));
    expect(() => renderProvider(provider, [deployment(containers)], options)).toThrow(
      'bootstrap-x needs images that the release does not have: foreign.io/a:v1, foreign.io/b:v1',
    );
  });

  it.each([
    [
      injected(
        'ValidatingWebhookConfiguration',
        { webhooks: [{ name: 'a', clientConfig: { service: {} } }] },
        'admissionregistration.k8s.io/v1',
      ),
      { webhooks: [{ name: 'a', clientConfig: { service: {}, caBundle: 'Q0E=' } }] },
    ],
    [
      injected(
        'MutatingWebhookConfiguration',
        {
          webhooks: [
            { name: 'a', clientConfig: {} },
            { name: 'b', clientConfig: {} },
          ],
        },
        'admissionregistration.k8s.io/v1',
      ),
      {
        webhooks: [
          { name: 'a', clientConfig: { caBundle: 'Q0E=' } },
          { name: 'b', clientConfig: { caBundle: 'Q0E=' } },
        ],
      },
    ],
    [
      injected(
        'CustomResourceDefinition',
        { spec: { conversion: { webhook: { clientConfig: { url: 'u' } } } } },
        'apiextensions.k8s.io/v1',
      ),
      { spec: { conversion: { webhook: { clientConfig: { url: 'u', caBundle: 'Q0E=' } } } } },
    ],
    [
      injected('CustomResourceDefinition', { spec: { group: 'g' } }, 'apiextensions.k8s.io/v1'),
      { spec: { group: 'g' } },
    ],
  ])('has the management CA and our label where cert-manager was asked for one: %o', (one, expected) => {
    const rendered = renderOne(one);
    expect(rendered).toMatchObject(expected);
    expect(rendered?.metadata.annotations).toEqual({ other: 'kept' });
    expect(rendered?.metadata.labels).toMatchObject({ 'bke.io/inject-ca': 'management' });
  });

  it('has nothing of cert-manager, whose certificates bke makes', () => {
    const spec = { secretName: 'hook-cert', dnsNames: ['hook.x-system.svc', 'hook.x-system.svc.cluster.local'] };
    const issuer = { ...certificate({}), kind: 'Issuer' };
    expect(renderProvider(provider, [certificate(spec), issuer], options)).toEqual([]);
  });

  it.each([
    [{ secretName: 'else', dnsNames: ['hook.x-system.svc'] }],
    [{ secretName: 'hook-cert', dnsNames: ['hook.x-system.svc', 'else.x-system.svc'] }],
  ])('is refused with a certificate that bke does not make: %o', (spec) => {
    expect(() => renderProvider(provider, [certificate(spec)], options)).toThrow(
      /wants the certificate x-system\/\S+ for /,
    );
  });
});
