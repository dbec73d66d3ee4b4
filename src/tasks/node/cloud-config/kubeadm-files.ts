// What bke lays over the files that Cluster API gives kubeadm: settings that its own resources have no field for, or not for each host.
import { type Document, parseAllDocuments, stringify } from 'yaml';
import type { JsonObject } from '../../../config/node-settings.ts';
import { fieldAt } from '../../../kube/fields.ts';
import { isMapping } from '../../../lib/is-mapping.ts';
import type { Taint } from '../../../lib/node-labels.ts';
import type { FileToWrite } from './parse.ts';

/** Of `kubeadm init`. */
const initFile = '/run/kubeadm/kubeadm.yaml';
const joinFile = '/run/kubeadm/kubeadm-join-config.yaml';

/** What kubeadm gives a control plane that says nothing of taints. */
const controlPlaneTaint: Taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' };

/** kubeadm reads YAML 1.1, to which a plain `yes` is no text. */
const written = { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' } as const;

export interface NodeTaints {
  /** Of the host, beside those that the files have. */
  readonly own: readonly Taint[];
  /** It takes pods as a worker does, also where it is a control plane. */
  readonly takesPods: boolean;
}

/** The settings of kube-proxy, which kubeadm takes as one more document of its file. */
export function withKubeProxy(files: readonly FileToWrite[], settings: JsonObject): FileToWrite[] {
  if (Object.keys(settings).length === 0) return [...files];
  const document = stringify(
    { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration', ...settings },
    written,
  );
  return files.map((file) => {
    if (file.path !== initFile) return file;
    const text = file.content.toString('utf8');
    return { ...file, content: Buffer.from(`${text}${text.endsWith('\n') ? '' : '\n'}---\n${document}`) };
  });
}

/** By kubeadm, and not by a flag of the kubelet's unit: kubeadm has a flag of its own for what Cluster API adds, and the last one counts. */
export function withTaints(files: readonly FileToWrite[], taints: NodeTaints): FileToWrite[] {
  if (taints.own.length === 0 && !taints.takesPods) return [...files];
  return files.map((file) => {
    if (file.path !== initFile && file.path !== joinFile) return file;
    return { ...file, content: Buffer.from(tainted(file.content.toString('utf8'), taints)) };
  });
}

function tainted(text: string, taints: NodeTaints): string {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return text;
  for (const document of documents) taint(document, taints);
  return documents
    .map((document) => document.toString(written))
    .map((one) => (one.startsWith('---\n') ? one : `---\n${one}`))
    .join('');
}

function taint(document: Document, { own, takesPods }: NodeTaints): void {
  const kind = document.get('kind');
  if (kind !== 'InitConfiguration' && kind !== 'JoinConfiguration') return;
  const configuration: unknown = document.toJS();
  const isControlPlane = kind === 'InitConfiguration' || isMapping(fieldAt(configuration, 'controlPlane'));
  const given = fieldAt(configuration, 'nodeRegistration', 'taints');
  const before: readonly unknown[] = Array.isArray(given) ? given : isControlPlane ? [controlPlaneTaint] : [];
  const kept = before.filter((one) => !(takesPods && isSame(one, controlPlaneTaint)));
  const added = own.filter((one) => !kept.some((other) => isSame(other, one)));
  document.setIn(['nodeRegistration', 'taints'], document.createNode([...kept, ...added]));
}

/** Kubernetes tells taints apart by these. */
function isSame(one: unknown, { key, effect }: Taint): boolean {
  return isMapping(one) && one['key'] === key && one['effect'] === effect;
}
