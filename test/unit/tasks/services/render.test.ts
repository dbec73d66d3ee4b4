import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { bootstrapSettings } from '../../../fakes/bootstrap-settings.ts';
import { renderFilesUnit, renderRegistry } from '../../../../src/tasks/services/render.ts';

const settings = bootstrapSettings();
const program = { program: '/usr/local/libexec/bke/registry-v3.1.2/registry', uploadSecret: 'b1946ac9' };
const golden = (name: string): string => join(import.meta.dirname, 'golden', `${name}.golden`);

describe('files of the local services', () => {
  it('are exactly these', async () => {
    const texts = await renderRegistry(settings, program);
    await expect(texts.registryUnit).toMatchFileSnapshot(golden('bke-registry.service'));
    await expect(texts.registryPushUnit).toMatchFileSnapshot(golden('bke-registry-push.service'));
    await expect(texts.registryConfig).toMatchFileSnapshot(golden('registry.yaml'));
    await expect(texts.registryPushConfig).toMatchFileSnapshot(golden('registry-push.yaml'));
    const unit = await renderFilesUnit(settings, '/usr/local/libexec/bke/bke-0.1.0/bke');
    await expect(unit).toMatchFileSnapshot(golden('bke-files.service'));
  });

  it('has one registry that only reads and one that asks for a login, on one store', async () => {
    const { registryConfig, registryPushConfig } = await renderRegistry(settings, program);
    const [reader, writer] = [parse(registryConfig), parse(registryPushConfig)];
    expect(reader.storage.maintenance.readonly.enabled).toBe(true);
    expect(reader.auth).toBeUndefined();
    expect(writer.auth.htpasswd).toEqual({ realm: 'bke', path: '/etc/bke/services/htpasswd' });
    expect(writer.storage.filesystem).toEqual(reader.storage.filesystem);
    expect([reader.http.debug, writer.http.debug]).toEqual([undefined, undefined]);
  });

  it('takes pushes from this machine only, unless a port was named for them', async () => {
    expect((await renderRegistry(settings, program)).registryPushConfig).toContain("addr: '127.0.0.1:40444'");
    expect((await renderRegistry({ ...settings, pushOpen: true }, program)).registryPushConfig).toContain(
      "addr: ':40444'",
    );
  });
});
