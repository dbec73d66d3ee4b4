import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bootstrapKinds, type BootstrapSettings } from '../../../../src/config/bootstrap.ts';
import { bootstrapChoices } from '../../../../src/commands/init/options.ts';
import { refuseOtherCluster } from '../../../../src/commands/init/unchangeable.ts';
import { bootstrapSettings } from '../../../fakes/bootstrap-settings.ts';
import { FakeHost } from '../../../fakes/fake-host.ts';
import { openLedger } from '../../../../src/host/ledger/ledger.ts';

let host: FakeHost;
beforeEach(async () => {
  host = await FakeHost.make();
});
afterEach(() => host.dispose());

async function record(scope: 'services' | 'bootstrap-cluster'): Promise<void> {
  const ledger = await openLedger(host, { operation: 'test', command: 'test' });
  await ledger.apply(scope, { kind: 'directory', path: '/etc/kubernetes', mode: 0o755 });
  await ledger.close();
}

const last = bootstrapSettings({ bootstrap: 'kubeadm' });
const refusal = (change: Partial<BootstrapSettings>, before = last) =>
  refuseOtherCluster(host, before, { ...last, ...change });

describe('a bootstrap cluster that stands', () => {
  it('keeps what it was made of, and says all that would be other', async () => {
    await record('bootstrap-cluster');
    const network = { podCIDR: '10.1.0.0/16', serviceCIDR: '10.2.0.0/16' };
    await expect(refusal({ bootstrap: 'k3s', network, hostIP: '10.0.0.9' })).rejects.toMatchObject({
      code: 'BKE_BOOTSTRAP_CHANGED',
      details: [
        'the bootstrap cluster was kubeadm, and would be k3s',
        'the block of the pods was 100.72.0.0/16, and would be 10.1.0.0/16',
        'the block of the services was 100.73.0.0/16, and would be 10.2.0.0/16',
        'the address of this host was 10.0.0.5, and would be 10.0.0.9',
      ],
    });
    await expect(refusal({ bootstrap: 'none' })).rejects.toMatchObject({ code: 'BKE_BOOTSTRAP_CHANGED' });
    await expect(refusal({ domain: 'other.site' })).resolves.toBeUndefined();
  });

  it('may come to a host that has containerd, unless it brings its own', async () => {
    await record('bootstrap-cluster');
    const none = bootstrapSettings({ bootstrap: 'none' });
    await expect(
      refusal({ bootstrap: 'kubeadm', network: { ...last.network, podCIDR: '10.1.0.0/16' } }, none),
    ).resolves.toBeUndefined();
    await expect(refusal({ bootstrap: 'k3s' }, none)).rejects.toMatchObject({
      details: ['the bootstrap cluster was none, and would be k3s'],
    });
  });

  it('can be another one after a reset that left the services', async () => {
    await record('services');
    await expect(refusal({ bootstrap: 'k3s' })).resolves.toBeUndefined();
  });
});

describe('what the declaration of init repeats', () => {
  it('is what its work knows', () => {
    expect(bootstrapChoices).toEqual(bootstrapKinds);
  });
});
