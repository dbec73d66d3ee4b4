// Files of a release that are more than one program: archives as their makers pack them, manifests, the sample chart.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { writeArchive } from '../../../scripts/image/archive.ts';
import { type Build, type BuildOptions, buildComponent } from '../builds/build.ts';
import { cached } from '../cache.ts';
import { clusterApiNames } from '../images/table.ts';
import { run, TestbedError } from '../run.ts';

/** `containerd-X-linux-amd64.tar.gz`: programs below `bin/`. */
export async function containerdArchive(options: BuildOptions): Promise<string> {
  const build = await buildComponent('containerd', options);
  const programs = Object.keys(build.component.programs);
  return archive(
    'containerd',
    [build],
    Object.fromEntries(programs.map((name) => [`/bin/${name}`, build.program(name)])),
  );
}

/** `cni-plugins-linux-amd64-X.tgz`: programs at the top, flannel's plugin among them as in the releases up to 0.9. */
export async function cniPluginsArchive(options: BuildOptions): Promise<string> {
  const builds = [await buildComponent('cni-plugins', options), await buildComponent('flannel-cni-plugin', options)];
  const entries = builds.flatMap((build) =>
    Object.keys(build.component.programs).map((name) => [`/${name}`, build.program(name)] as const),
  );
  return archive('cni-plugins', builds, Object.fromEntries(entries));
}

async function archive(name: string, builds: Build[], files: Record<string, string>): Promise<string> {
  const recipe = {
    builds: builds.map((build) => path.basename(build.dir)),
    paths: Object.keys(files),
    recipeVersion: 1,
  };
  const fileName = `${name}.tar.gz`;
  const dir = await cached({ kind: 'archives', name, recipe }, async (draft) => {
    const entries = Object.entries(files).map(([target, source]) => ({ path: target, type: 'file' as const, source }));
    await writeArchive(entries, path.join(draft, fileName));
  });
  return path.join(dir, fileName);
}

/** One provider's manifest as Cluster API publishes it (`core-components.yaml`): its folder through kustomize, its image by name. */
export async function clusterApiComponents(component: string, options: BuildOptions): Promise<string> {
  const build = await buildComponent(component, options);
  const kubernetes = await buildComponent('kubernetes', options);
  const image = clusterApiNames[component];
  if (image === undefined) throw new TestbedError(`${component} has no image`);
  const recipe = { build: path.basename(build.dir), image, recipeVersion: 1 };
  const dir = await cached({ kind: 'manifests', name: component, recipe }, async (draft) => {
    const folder = path.join(build.dir, 'config/default');
    const { stdout } = await run([kubernetes.program('kubectl'), 'kustomize', folder]);
    const published = `registry.k8s.io/cluster-api/${image}:${build.component.version}`;
    const text = stdout.replaceAll(new RegExp(`image: \\S+/${image}:\\S+`, 'g'), `image: ${published}`);
    if (!text.includes(published)) throw new TestbedError(`the manifest of ${component} names no image ${image}`);
    await writeFile(path.join(draft, 'components.yaml'), `${text.trimEnd()}\n`, { mode: 0o644 });
  });
  return path.join(dir, 'components.yaml');
}

/** A packed chart. */
export interface Chart {
  name: string;
  version: string;
  file: string;
}

/** The sample chart, packed by Helm. */
export async function sampleChart(options: BuildOptions): Promise<Chart> {
  const helm = await buildComponent('helm', options);
  const source = path.join(import.meta.dirname, '../charts/sample');
  const texts = await Promise.all((await filesBelow(source)).map((file) => readFile(path.join(source, file), 'utf8')));
  const recipe = { texts, helm: path.basename(helm.dir) };
  const dir = await cached({ kind: 'charts', name: 'sample', recipe }, async (draft) => {
    const env = { HELM_CACHE_HOME: '/nonexistent', HELM_CONFIG_HOME: '/nonexistent', HELM_DATA_HOME: '/nonexistent' };
    await run([helm.program('helm'), 'package', source, '--destination', draft], { env });
  });
  const [, name = '', version = ''] =
    (await readdir(dir)).map((file) => /^(.+)-(\d+\.\d+\.\d+)\.tgz$/.exec(file)).find((match) => match !== null) ?? [];
  return { name, version, file: path.join(dir, `${name}-${version}.tgz`) };
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort();
}
