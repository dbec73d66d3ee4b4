// `write_files`, each a change of the ledger.
import { stringify } from 'yaml';
import type { JsonObject } from '../../../config/node-settings.ts';
import type { TaskScope } from '../../task.ts';
import { mostFileBytes } from './content.ts';
import type { FileToWrite } from './parse.ts';

/** What Cluster API gives `kubeadm init`; those that join have another file. */
const initFile = '/run/kubeadm/kubeadm.yaml';

export async function writeFiles(scope: TaskScope, files: readonly FileToWrite[]): Promise<void> {
  for (const file of files) {
    const { path, mode, owner } = file;
    const bytes = file.append ? await appended(scope, file) : file.content;
    await scope.apply({ kind: 'file', path, mode, owner, content: { bytes } });
  }
}

/** What is in the file already is not put there a second time: an attempt may have failed after it. */
async function appended({ host }: TaskScope, { path, content }: FileToWrite): Promise<Buffer> {
  const there = (await host.files.read(path, { maxBytes: mostFileBytes })) ?? Buffer.alloc(0);
  return there.includes(content) ? there : Buffer.concat([there, content]);
}

/** The settings of kube-proxy, which kubeadm takes as one more document of its file, and Cluster API has no field for. */
export function withKubeProxy(files: readonly FileToWrite[], settings: JsonObject): FileToWrite[] {
  if (Object.keys(settings).length === 0) return [...files];
  const document = stringify(
    { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration', ...settings },
    { lineWidth: 0 },
  );
  return files.map((file) => {
    if (file.path !== initFile) return file;
    const text = file.content.toString('utf8');
    return { ...file, content: Buffer.from(`${text}${text.endsWith('\n') ? '' : '\n'}---\n${document}`) };
  });
}
