import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { flannelImages, flannelObjects } from '../../../../src/cluster/cni/flannel.ts';

const manifest = `---
kind: Namespace
apiVersion: v1
metadata:
  name: kube-flannel
---
kind: ConfigMap
apiVersion: v1
metadata:
  name: kube-flannel-cfg
  namespace: kube-flannel
data:
  cni-conf.json: |
    {"name": "cbr0"}
  net-conf.json: |
    {"Network": "10.244.0.0/16", "EnableNFTables": false, "Backend": {"Type": "vxlan"}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: kube-flannel-ds
  namespace: kube-flannel
spec:
  template:
    metadata:
      labels: {app: flannel}
    spec:
      initContainers:
      - name: install-cni-plugin
        image: ghcr.io/flannel-io/flannel-cni-plugin:v1.8.0-flannel1
      - name: install-cni
        image: ghcr.io/flannel-io/flannel:v0.27.4
      containers:
      - name: kube-flannel
        image: ghcr.io/flannel-io/flannel:v0.27.4
        args: [--ip-masq, --kube-subnet-mgr]
        env:
        - name: KUBERNETES_SERVICE_HOST
          value: of somebody
        - name: EVENT_QUEUE_DEPTH
          value: "5000"
---
`;
const options = { podCIDR: '100.72.0.0/16', endpoint: { host: '10.213.0.2', port: 36443 } };

describe('the manifest of flannel', () => {
  it('gets the network of the pods, the API server and the address of each node, and stays the same else', async () => {
    const text = flannelObjects(manifest, options)
      .map((object) => stringify(object))
      .join('---\n');
    await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'golden/flannel.yaml.golden'));
  });

  it('says that a cluster has IPv6 alone', () => {
    const [, configuration] = flannelObjects(manifest, { ...options, podCIDR: 'fd00:72::/56' });
    expect(JSON.stringify(configuration)).toContain('\\"IPv6Network\\": \\"fd00:72::/56\\"');
    expect(JSON.stringify(configuration)).toContain('\\"EnableIPv4\\": false');
  });

  it('names the images it runs, each once', () => {
    expect(flannelImages(manifest)).toEqual([
      'ghcr.io/flannel-io/flannel-cni-plugin:v1.8.0-flannel1',
      'ghcr.io/flannel-io/flannel:v0.27.4',
    ]);
  });

  it.each([
    ['a: [', /problems? with the manifest of flannel/],
    ['kind: Namespace\n', /problems? with the manifest of flannel/],
    ['kind: Namespace\napiVersion: v1\nmetadata: {name: x}\n', /no DaemonSet kube-flannel-ds/],
    [manifest.replace('{"Network"', '{{"Network"'), /net-conf.json is no JSON/],
  ])('that is none is refused (%#)', (text, why) => {
    expect(() => flannelObjects(text, options)).toThrow(why);
  });
});
