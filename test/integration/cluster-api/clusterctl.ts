// The real clusterctl, offline: the files of a release as the local repositories it knows.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findFile } from '../../../src/release/catalogue.ts';
import { providers } from '../../../src/tasks/cluster-api/providers.ts';
import { buildComponent } from '../../testbed/builds/build.ts';
import { run } from '../../testbed/run.ts';
import type { TestRelease } from './release.ts';

const componentNames = {
  CoreProvider: 'core-components.yaml',
  BootstrapProvider: 'bootstrap-components.yaml',
  ControlPlaneProvider: 'control-plane-components.yaml',
  InfrastructureProvider: 'infrastructure-components.yaml',
};

/** @returns path of its configuration */
export async function clusterctlConfig(dir: string, release: TestRelease): Promise<string> {
  const entries: object[] = [];
  for (const { name, providerName, type, file } of providers) {
    const version = file === undefined ? `v${release.bkeVersion}` : fileOf(release, file).version;
    const folder = path.join(dir, name, version);
    await mkdir(folder, { recursive: true });
    const own = (asset: string): string => path.join(import.meta.dirname, '../../../assets/provider', asset);
    const components = file === undefined ? own('components.yaml') : fileOf(release, file).source;
    const metadata = file === undefined ? own('metadata.yaml') : fileOf(release, `${file}-metadata`).source;
    const url = path.join(folder, componentNames[type]);
    await copyFile(components, url);
    await copyFile(metadata, path.join(folder, 'metadata.yaml'));
    entries.push({ name: providerName, type, url });
  }
  const config = path.join(dir, 'clusterctl.yaml');
  await writeFile(config, JSON.stringify({ providers: entries, 'cert-manager': { externallyProvisioned: true } }));
  return config;
}

export async function clusterctl(config: string, kubeconfig: string, args: readonly string[]): Promise<string> {
  const build = await buildComponent('clusterctl');
  const env = { HOME: path.dirname(config), KUBECONFIG: kubeconfig, CLUSTERCTL_DISABLE_VERSIONCHECK: 'true' };
  const { stdout, stderr } = await run([build.program('clusterctl'), '--config', config, ...args], { env });
  return `${stdout}${stderr}`;
}

function fileOf({ catalogue, filesDir }: TestRelease, name: string): { version: string; source: string } {
  const found = findFile(catalogue, { name, platform: 'linux/amd64' });
  if (found === undefined) throw new Error(`the release has no ${name}`);
  return { version: found.version, source: path.join(filesDir, found.path) };
}
