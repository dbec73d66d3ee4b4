// How a BKEHost becomes something to dial: with what stands in its Secret, and never without host keys.
import { expect, it } from 'vitest';
import { type HostView, viewOf } from '../../../../src/controllers/bkehost/host.ts';
import { loginOf, targetOf, withoutKeys } from '../../../../src/controllers/bkehost/login.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';

const ssh = { user: 'ops', port: 2222, hostKeys: ['SHA256:host'], secretRef: { name: 'h1-ssh' }, retain: true };

function host(more: object = {}): HostView {
  const metadata = { namespace: 'bke', name: 'h1' };
  const spec = { address: '10.0.0.11', roles: ['worker'], ssh: { ...ssh, ...more } };
  return viewOf({ apiVersion: 'bke.io/v1alpha1', kind: 'BKEHost', metadata, spec });
}

function secret(values: Readonly<Record<string, string>>): KubeObject {
  const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'bke', name: 'h1-ssh' },
    data: Object.fromEntries(data),
  };
}

it('logs in with key, passphrase and sudo password, trusting the host keys of the object only', () => {
  const target = targetOf(host(), secret({ 'ssh-privatekey': 'KEY', passphrase: 'P', 'sudo-password': 'S' }));
  expect(target).toEqual({
    name: 'h1',
    field: 'spec.ssh',
    address: '10.0.0.11',
    port: 2222,
    user: 'ops',
    hostKeys: ['SHA256:host'],
    auth: { privateKey: { contents: 'KEY', passphrase: 'P' } },
    sudo: { password: 'S' },
    knownHostsFiles: [],
  });
});

it('goes through bastions in their order, each with its own login or that of what is behind it', () => {
  const bastions = [
    { address: '192.0.2.1', user: 'jump', port: 22, hostKeys: ['SHA256:outer'] },
    { address: '192.0.2.2', user: 'jump', port: 22, hostKeys: ['SHA256:inner'] },
  ];
  const target = targetOf(host({ bastions }), secret({ password: 'own', 'bastion-0.password': 'outer' }));
  expect(target).toMatchObject({
    address: '10.0.0.11',
    auth: { password: 'own' },
    bastion: {
      address: '192.0.2.2',
      auth: { password: 'own' },
      bastion: { address: '192.0.2.1', hostKeys: ['SHA256:outer'], auth: { password: 'outer' } },
    },
  });
});

it('is not dialled without host keys, of a bastion neither', () => {
  expect(loginOf(host({ hostKeys: [] }))).toBeUndefined();
  const keyless = host({ bastions: [{ address: '192.0.2.1', user: 'jump', port: 22 }] });
  expect(withoutKeys(keyless.spec)).toEqual(['192.0.2.1']);
  expect(loginOf(keyless)).toBeUndefined();
  expect(loginOf(host())).toMatchObject({ secret: { namespace: 'bke', name: 'h1-ssh' } });
});

it('says what is missing, and nothing of what is there', () => {
  const missing = { code: 'BKE_HOST_CREDENTIALS', message: 'the Secret bke/h1-ssh is not there' };
  expect(() => targetOf(host(), undefined)).toThrow(expect.objectContaining(missing));
  const useless = secret({ 'sudo-password': 'CANARY-3301' });
  const refused = { message: 'the Secret bke/h1-ssh has neither password nor ssh-privatekey' };
  expect(() => targetOf(host(), useless)).toThrow(expect.objectContaining(refused));
});
