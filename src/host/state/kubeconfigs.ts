// Users' kubeconfig files that lead nowhere but to the cluster this host was a part of.
import { parse } from 'yaml';
import { z } from 'zod';
import type { Host } from '../host.ts';
import type { Reach } from './mount-table.ts';

const kubeconfig = z.object({
  clusters: z.array(z.object({ cluster: z.object({ 'certificate-authority-data': z.string() }) })),
});

/** CA certificates (base64, without white space) of every cluster of a kubeconfig; undefined where it is none or one has no CA in it. */
export function clusterAuthorities(text: string): string[] | undefined {
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    return undefined;
  }
  const { data } = kubeconfig.safeParse(value);
  return data?.clusters.map((entry) => entry.cluster['certificate-authority-data'].replaceAll(/\s/g, ''));
}

/** Whether all clusters of a kubeconfig are ours (`only`), some (`some`), or none. */
export function pointsAt(text: string, ours: ReadonlySet<string>): 'only' | 'some' | 'none' {
  const authorities = clusterAuthorities(text);
  if (authorities === undefined || authorities.length === 0) return 'none';
  const hits = authorities.filter((authority) => ours.has(authority)).length;
  return hits === 0 ? 'none' : hits === authorities.length ? 'only' : 'some';
}

async function readText(host: Host, path: string): Promise<string> {
  return (await host.files.read(path).catch(() => undefined))?.toString('utf8') ?? '';
}

async function ownAuthorities(host: Host): Promise<Set<string>> {
  const ours = new Set<string>();
  for (const name of ['/etc/kubernetes/admin.conf', '/etc/kubernetes/kubelet.conf', '/etc/rancher/k3s/k3s.yaml']) {
    for (const authority of clusterAuthorities(await readText(host, name)) ?? []) ours.add(authority);
  }
  const authority = await readText(host, '/etc/kubernetes/pki/ca.crt');
  if (authority !== '') ours.add(Buffer.from(authority).toString('base64'));
  return ours;
}

/** Home directories of /etc/passwd, without those of system accounts that share `/`. */
export function homeFolders(passwd: string): string[] {
  const homes = passwd.split('\n').map((line) => line.split(':')[5] ?? '');
  return [...new Set(homes)].filter((home) => home.startsWith('/') && home.length > 1);
}

export interface FoundKubeconfig {
  readonly path: string;
  readonly points: 'only' | 'some';
}

/** @param reach whether a path can be read without waiting for a network file system. */
export async function readKubeconfigs(host: Host, reach: Reach): Promise<FoundKubeconfig[]> {
  const ours = await ownAuthorities(host);
  if (ours.size === 0) return [];
  const found: FoundKubeconfig[] = [];
  for (const home of homeFolders(await readText(host, '/etc/passwd'))) {
    const path = `${home}/.kube/config`;
    if (!(await reach(path)) || (await host.files.stat(path).catch(() => undefined))?.type !== 'file') continue;
    const points = pointsAt(await readText(host, path), ours);
    if (points !== 'none') found.push({ path, points });
  }
  return found;
}
