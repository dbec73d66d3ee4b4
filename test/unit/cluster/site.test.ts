// The site's settings in the cluster: what is written is read back, and what was spoiled by hand is told.
import { expect, it } from 'vitest';
import { type Site, siteObject, siteOf } from '../../../src/cluster/site.ts';

const site: Site = {
  domain: 'deploy.bke.internal',
  hostIP: '10.0.0.5',
  ports: { registry: 40_443, files: 40_080, charts: 38_080 },
  ca: '-----BEGIN CERTIFICATE-----\nsite\n-----END CERTIFICATE-----\n',
  servers: ['https://10.0.0.5:36443', 'https://[fd00::5]:36443'],
  serverCa: '-----BEGIN CERTIFICATE-----\napi\n-----END CERTIFICATE-----\n',
};

it('comes back as it was written', () => {
  expect(siteOf(siteObject(site))).toEqual(site);
});

it('says what is wrong with it', () => {
  const object = { ...siteObject(site), data: { domain: 'deploy.bke.internal', 'files-port': 'none' } };
  expect(siteOf(object)).toMatch(/host-ip: .*files-port: no port.*api-ca\.crt: /);
});
