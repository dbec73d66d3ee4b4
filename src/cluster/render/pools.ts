// Machines of a cluster: its control plane and its workers, each with a template that says which hosts they may claim.
import type { BKEMachineTemplateSpec } from '../../api/kinds/bke-machine.ts';
import type { ClusterConfig, HostConfig } from '../../config/cluster/config.ts';
import type { KubeObject } from '../../kube/client.ts';
import { controlPlaneConfig, type ImageTags, workerConfig } from './kubeadm.ts';
import {
  bootstrapVersion,
  controlPlaneVersion,
  coreLabels,
  coreVersion,
  hostLabels,
  infrastructureVersion,
  type Pool,
  poolName,
  reference,
} from './names.ts';

/** Bounds of what a deletion waits for: without them Cluster API waits for ever. */
const deletion = {
  nodeDrainTimeoutSeconds: 600,
  nodeVolumeDetachTimeoutSeconds: 300,
  nodeDeletionTimeoutSeconds: 60,
} as const;

/** Below it a control plane has to grow before it may shrink (KubeadmControlPlane's own rule); from it on no spare host is needed. */
const smallestWithoutSurge = 3;

export function poolOf({ roles }: HostConfig): Pool {
  return roles.includes('control-plane') ? 'control-plane' : 'workers';
}

export function controlPlaneResources(config: ClusterConfig, images: ImageTags): KubeObject[] {
  const name = poolName(config, 'control-plane');
  const replicas = sizeOf(config, 'control-plane');
  return [
    machineTemplate(config, 'control-plane'),
    {
      apiVersion: controlPlaneVersion,
      kind: 'KubeadmControlPlane',
      metadata: metadata(config, name),
      spec: {
        replicas,
        version: config.kubernetesVersion,
        rollout: {
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: replicas < smallestWithoutSurge ? 1 : 0 } },
        },
        machineTemplate: {
          spec: { infrastructureRef: reference(infrastructureVersion, 'BKEMachineTemplate', name), deletion },
        },
        kubeadmConfigSpec: controlPlaneConfig(config, images),
      },
    },
  ];
}

export function workerResources(config: ClusterConfig): KubeObject[] {
  const name = poolName(config, 'workers');
  const labels = { [coreLabels.cluster]: config.name, [coreLabels.deployment]: name };
  return [
    machineTemplate(config, 'workers'),
    {
      apiVersion: bootstrapVersion,
      kind: 'KubeadmConfigTemplate',
      metadata: metadata(config, name),
      spec: { template: { spec: workerConfig(config) } },
    },
    {
      apiVersion: coreVersion,
      kind: 'MachineDeployment',
      metadata: metadata(config, name),
      spec: {
        clusterName: config.name,
        replicas: sizeOf(config, 'workers'),
        selector: { matchLabels: labels },
        // In place, on the same hosts: there is no spare one to surge to.
        rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
        template: {
          metadata: { labels },
          spec: {
            clusterName: config.name,
            version: config.kubernetesVersion,
            bootstrap: { configRef: reference(bootstrapVersion, 'KubeadmConfigTemplate', name) },
            infrastructureRef: reference(infrastructureVersion, 'BKEMachineTemplate', name),
            deletion,
          },
        },
      },
    },
  ];
}

function sizeOf({ hosts }: ClusterConfig, pool: Pool): number {
  return hosts.filter((host) => poolOf(host) === pool).length;
}

function machineTemplate(config: ClusterConfig, pool: Pool): KubeObject {
  const matchLabels = { [hostLabels.cluster]: config.name, [hostLabels.pool]: pool };
  const spec: BKEMachineTemplateSpec = { template: { spec: { hostSelector: { matchLabels } } } };
  return {
    apiVersion: infrastructureVersion,
    kind: 'BKEMachineTemplate',
    metadata: metadata(config, poolName(config, pool)),
    spec,
  };
}

function metadata({ name: cluster, namespace }: ClusterConfig, name: string): KubeObject['metadata'] {
  return { name, namespace, labels: { [coreLabels.cluster]: cluster } };
}
