import { X509Certificate } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateKey } from '../../../../src/lib/x509.ts';
import { ensureCertificates, type SiteCertificates } from '../../../../src/tasks/services/site-ca.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

const start = new Date('2026-11-30T10:00:00Z');
const later = (days: number): Date => new Date(start.getTime() + days * 86_400_000);
const parameters = { hostIP: '10.0.0.5', domain: 'deploy.bke.internal', hostname: 'boot', now: start };

let machine: TaskHost;
beforeEach(async () => {
  machine = await taskHost();
});
afterEach(() => machine.remove());

const text = (path: string): Promise<string> => readFile(join(machine.root, path), 'utf8');
const mode = async (path: string): Promise<string> =>
  ((await stat(join(machine.root, path))).mode & 0o7777).toString(8);

async function ensure(change: Partial<typeof parameters> = {}): Promise<{ made: SiteCertificates; changed: string[] }> {
  const found: SiteCertificates[] = [];
  const changed = await machine.run(async (scope) => {
    found.push(await ensureCertificates(scope, { ...parameters, ...change }));
  });
  const [made] = found;
  if (made === undefined) throw new Error('no certificates');
  return { made, changed };
}

describe('certificates of a site', () => {
  it('are made once and kept on every later run', async () => {
    const first = await ensure();
    expect(first.made.renewed).toBe(true);
    const second = await ensure({ now: later(400) });
    expect(second).toEqual({ made: { ...first.made, renewed: false }, changed: [] });
  });

  it('have keys that only their users can read', async () => {
    await ensure();
    expect(await mode('var/lib/bke/pki/site-ca.key')).toBe('600');
    expect(await mode('etc/bke/services/tls.key')).toBe('600');
    expect((await stat(join(machine.root, 'etc/bke/services/tls.key'))).uid).toBe(990);
    expect(await mode('etc/bke/services/tls.crt')).toBe('644');
    expect(await mode('etc/bke/site-ca.crt')).toBe('644');
  });

  it('name every way the services are reached', async () => {
    await ensure();
    const names = new X509Certificate(await text('etc/bke/services/tls.crt')).subjectAltName;
    expect(names).toBe(
      'DNS:deploy.bke.internal, DNS:boot, DNS:localhost, IP Address:10.0.0.5, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    );
  });

  it('are renewed when two thirds of their life are over, by the same CA', async () => {
    const first = await ensure();
    const second = await ensure({ now: later(500) });
    expect(second.made).toMatchObject({ ca: first.made.ca, renewed: true });
    expect(second.changed).toEqual(['file /etc/bke/services/tls.key', 'file /etc/bke/services/tls.crt']);
  });

  it('are renewed for another address', async () => {
    await ensure();
    const { made } = await ensure({ hostIP: '10.0.0.6' });
    expect(made.renewed).toBe(true);
  });

  it('are mended after a crash between a key and its certificate', async () => {
    const first = await ensure();
    await writeFile(join(machine.root, 'etc/bke/services/tls.key'), generateKey());
    const second = await ensure();
    expect(second.made).toMatchObject({ ca: first.made.ca, renewed: true });
    await rm(join(machine.root, 'var/lib/bke/pki/site-ca.crt'));
    expect((await ensure()).made.ca).not.toBe(first.made.ca);
  });

  it('are never replaced by those of a new CA while hosts may trust the old one', async () => {
    await ensure();
    await rm(join(machine.root, 'var/lib/bke/pki/site-ca.key'));
    await expect(ensure()).rejects.toMatchObject({ code: 'BKE_SITE_CA_BROKEN' });
    await writeFile(join(machine.root, 'var/lib/bke/pki/site-ca.key'), generateKey());
    await expect(ensure()).rejects.toMatchObject({ code: 'BKE_SITE_CA_BROKEN' });
  });
});
