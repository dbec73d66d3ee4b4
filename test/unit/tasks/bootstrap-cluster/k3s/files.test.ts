import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { noNodeSettings } from '../../../../../src/config/node-settings.ts';
import { readAsset } from '../../../../../src/lib/assets.ts';
import { k3sConfig, k3sContainerd, k3sRegistries } from '../../../../../src/tasks/bootstrap-cluster/k3s/config.ts';
import { kubeProxyArgs, kubeProxyOptions } from '../../../../../src/tasks/bootstrap-cluster/k3s/kube-proxy-args.ts';
import { kubeletDropIn } from '../../../../../src/tasks/node/kubelet-config.ts';
import { k3sPaths } from '../../../../../src/tasks/bootstrap-cluster/k3s/paths.ts';
import {
  apiServerOptionNames,
  documentedPaths,
  flannelBackends,
  kubeletOptions,
  kubeProxyOptionNames,
  listOptions,
  packagedComponents,
  registryKeys,
  serverOptions,
  switchOptions,
  unitLines,
} from './documented.ts';

const local = 'deploy.bke.internal:40443';
const mirrored = ['docker.io', 'registry.k8s.io', 'registry.site.example:5000'];
const config = k3sConfig({
  nodeName: 'boot',
  hostIP: '10.0.0.5',
  port: 36_443,
  podCIDR: '100.72.0.0/16',
  serviceCIDR: '100.73.0.0/16',
  clusterDNS: '100.73.0.10',
  pauseImage: 'registry.k8s.io/pause:3.10.2',
  resolvConf: '/etc/resolv.conf',
  kubeProxyArgs: kubeProxyArgs(noNodeSettings.kubeProxy),
});
const registries = k3sRegistries(mirrored, local);
const golden = (name: string): string => join(import.meta.dirname, 'golden', `${name}.golden`);
const wanted = z.record(z.string(), z.unknown()).parse(parse(config));
const list = (key: string): string[] => z.array(z.string()).parse(wanted[key]);

describe("K3s's files", () => {
  it('are these', async () => {
    await expect(config).toMatchFileSnapshot(golden('config.yaml'));
    await expect(registries).toMatchFileSnapshot(golden('registries.yaml'));
    await expect(kubeletDropIn({ failCgroupV1: false, maxPods: 60 })).toMatchFileSnapshot(golden('kubelet.yaml'));
    const containerd = { plugins: { 'io.containerd.cri.v1.runtime': { restrict_oom_score_adj: true } } };
    await expect(k3sContainerd(containerd)).toMatchFileSnapshot(golden('50-bke.toml'));
  });

  it('begin with the mark bke knows its own files by', async () => {
    for (const text of [config, registries, kubeletDropIn({}), k3sContainerd({})])
      expect(text).toMatch(/^# Written by bke/);
    for (const name of ['k3s.service', 'coredns.yaml']) {
      expect(await readAsset(`assets/k3s/${name}`)).toMatch(/^# Written by bke/);
    }
  });
});

describe('config.yaml', () => {
  it('has options that K3s documents, each in its form', () => {
    for (const [key, value] of Object.entries(wanted)) {
      expect(serverOptions, key).toContain(key);
      if (Array.isArray(value)) expect(listOptions, key).toContain(key);
      if (typeof value === 'boolean') expect(switchOptions, key).toContain(key);
    }
  });

  it('takes away what is packaged and not needed, by its documented names', () => {
    for (const name of list('disable')) expect(packagedComponents).toContain(name);
    expect(flannelBackends).toContain(wanted['flannel-backend']);
  });

  it('leaves the cloud controller in place, without which the node stays tainted, and the embedded registry off', () => {
    expect(wanted).not.toHaveProperty('disable-cloud-controller');
    expect(wanted).not.toHaveProperty('embedded-registry');
  });

  it('has no secret: the token is in a file of its own', () => {
    expect(wanted).not.toHaveProperty('token');
    expect(wanted['token-file']).toBe('/etc/rancher/k3s/token');
    expect(wanted['write-kubeconfig-mode']).toBe('0600');
  });

  it('keeps the modes and numbers what they are when they are read again', () => {
    expect(wanted['write-kubeconfig-mode']).toBe('0600');
    expect(wanted['service-cidr']).toBe('100.73.0.0/16');
    expect(wanted['https-listen-port']).toBe(36_443);
  });

  it('gives API server, kubelet and kube-proxy options that they have', () => {
    for (const arg of list('kube-apiserver-arg')) expect(apiServerOptionNames).toContain(arg.split('=', 1)[0]);
    for (const arg of list('kubelet-arg')) expect(kubeletOptions).toContain(arg.split('=', 1)[0]);
    for (const arg of list('kube-proxy-arg')) expect(kubeProxyOptionNames).toContain(arg.split('=', 1)[0]);
  });
});

describe('registries.yaml', () => {
  const registryFile = z.strictObject({
    mirrors: z.record(
      z.string(),
      z.strictObject({ endpoint: z.array(z.string()), rewrite: z.record(z.string(), z.string()).optional() }),
    ),
    configs: z.record(z.string(), z.strictObject({ tls: z.record(z.string(), z.string()) })),
  });
  const file = registryFile.parse(parse(registries));

  it('has keys that K3s documents', () => {
    for (const key of Object.keys(file)) expect(registryKeys.top).toContain(key);
    for (const mirror of Object.values(file.mirrors))
      for (const key of Object.keys(mirror)) expect(registryKeys.mirror).toContain(key);
    for (const entry of Object.values(file.configs)) {
      for (const key of Object.keys(entry)) expect(registryKeys.config).toContain(key);
      for (const key of Object.keys(entry.tls)) expect(registryKeys.tls).toContain(key);
    }
  });

  it('sends every registry to the local one, where its name is the first folder', () => {
    expect(Object.keys(file.mirrors)).toEqual([...mirrored, '*']);
    for (const mirror of Object.values(file.mirrors)) expect(mirror.endpoint).toEqual([`https://${local}`]);
    const rewritten = (registry: string, repository: string): string => {
      const [pattern, to] = Object.entries(file.mirrors[registry]?.rewrite ?? {})[0] ?? ['', ''];
      return repository.replace(new RegExp(pattern), to);
    };
    expect(rewritten('docker.io', 'library/nginx')).toBe('docker.io/library/nginx');
    expect(rewritten('registry.site.example:5000', 'team/app')).toBe('registry.site.example_5000/team/app');
  });

  it('trusts the site CA and skips no check', () => {
    expect(file.configs[local]?.tls).toEqual({ ca_file: k3sPaths.ca });
    expect(registries).not.toContain('insecure');
  });

  it('names the local registry as no mirror of itself', () => {
    expect(parse(k3sRegistries([...mirrored, local], local))).toEqual(parse(registries));
  });
});

describe('paths', () => {
  it('that K3s gives a meaning are where K3s looks', () => {
    const {
      config: file,
      registries: registryFile,
      kubeconfig,
      dataDir,
      keptToken,
      manifests,
      containerdConfig,
    } = k3sPaths;
    for (const path of [file, registryFile, kubeconfig, dataDir, keptToken, manifests, containerdConfig]) {
      expect(documentedPaths, path).toHaveProperty([path]);
    }
    expect(documentedPaths).toHaveProperty([join(k3sPaths.containerdDropIn, '..')]);
    expect(k3sPaths.containerdDropIn).toMatch(/\.toml$/);
    expect(k3sPaths.coredns).toBe(`${manifests}/bke-coredns.yaml`);
  });

  it('of manifests have names that an AddOn can have, and that no packaged component has', () => {
    const name = (k3sPaths.coredns.split('/').at(-1) ?? '').replace('.yaml', '');
    expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    expect(packagedComponents).not.toContain(name);
  });
});

describe('the unit', () => {
  it('does what the unit of K3s does', async () => {
    const unit = await readAsset('assets/k3s/k3s.service');
    for (const line of unitLines) expect(unit.split('\n')).toContain(line);
    expect(unit).toContain('\nExecStart={{program}} server\n');
  });

  it('gives K3s no environment, and none of a proxy', async () => {
    const unit = await readAsset('assets/k3s/k3s.service');
    expect(unit).not.toMatch(/^Environment/m);
    expect(unit).toMatch(/^UnsetEnvironment=.*\bHTTPS_PROXY\b.*\bCONTAINERD_HTTPS_PROXY\b/m);
  });
});

describe('settings of kube-proxy', () => {
  it('become its options', () => {
    const settings = {
      mode: 'nftables',
      iptables: { masqueradeAll: true },
      nodePortAddresses: ['10.0.0.0/8', 'primary'],
    };
    expect(kubeProxyArgs(settings)).toEqual([
      'conntrack-max-per-core=0',
      'conntrack-tcp-timeout-close-wait=0s',
      'conntrack-tcp-timeout-established=0s',
      'masquerade-all=true',
      'nodeport-addresses=10.0.0.0/8,primary',
      'proxy-mode=nftables',
    ]);
  });

  it('win over what bke would set', () => {
    const args = kubeProxyArgs({ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', conntrack: { maxPerCore: 4096 } });
    expect(args).toContain('conntrack-max-per-core=4096');
    expect(args).not.toContain('conntrack-max-per-core=0');
  });

  it('without an option are refused, all of them at once', () => {
    expect(() => kubeProxyArgs({ winkernel: { networkName: 'x' }, logging: { verbosity: 3 } })).toThrow(
      /winkernel\.networkName, logging\.verbosity/,
    );
  });

  it('all have options that kube-proxy has', () => {
    for (const option of Object.values(kubeProxyOptions)) expect(kubeProxyOptionNames).toContain(option);
  });
});
