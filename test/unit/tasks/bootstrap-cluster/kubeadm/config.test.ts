import { join } from 'node:path';
import { expect, it } from 'vitest';
import { kubeadmConfig } from '../../../../../src/tasks/bootstrap-cluster/kubeadm/config.ts';

const options = {
  version: 'v1.36.3',
  nodeName: 'h1',
  hostIP: '10.0.0.5',
  port: 36443,
  podCIDR: '100.72.0.0/16',
  serviceCIDR: '100.73.0.0/16',
  etcdTag: '3.6.8-0',
  corednsTag: 'v1.14.2',
};
const golden = (name: string): string => join(import.meta.dirname, 'golden', `${name}.golden`);

it('the configuration of kubeadm', async () => {
  const settings = { kubelet: {}, kubeProxy: {}, kubeadm: { ignorePreflightErrors: [] } };
  await expect(kubeadmConfig({ ...options, settings })).toMatchFileSnapshot(golden('kubeadm.yaml'));
});

it('carries the settings of kubelet, kube-proxy and kubeadm, without what is taken away by null', async () => {
  const settings = {
    kubelet: {
      maxPods: 60,
      failSwapOn: true,
      evictionHard: { 'memory.available': '100Mi', 'imagefs.available': null },
    },
    kubeProxy: { mode: 'nftables', conntrack: { maxPerCore: 0 }, clusterCIDR: null },
    kubeadm: { ignorePreflightErrors: ['SystemVerification'] },
  };
  await expect(kubeadmConfig({ ...options, settings })).toMatchFileSnapshot(golden('kubeadm-settings.yaml'));
});
