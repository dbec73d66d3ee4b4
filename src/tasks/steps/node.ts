// The steps that make a host ready to be a node: the tasks of src/tasks/node with parameters from the cluster and files from the site.
import { z } from 'zod';
import { nodeSettingsFile } from '../../config/node-settings.ts';
import { containerRuntimeTask } from '../node/container-runtime.ts';
import { environmentTask } from '../node/environment.ts';
import { imagesTask } from '../node/images.ts';
import { kubernetesTask } from '../node/kubernetes.ts';
import type { Task } from '../task.ts';
import { bringArtifacts, stepArtifact } from './artifacts.ts';
import { stepKind } from './step.ts';

const text = z.string().min(1).max(1024);
const labels = z.record(z.string(), z.string());

/** A download of everything may take as long again as the task itself. */
const downloadMs = 30 * 60_000;

export const environmentStep = stepKind({
  parameters: z.strictObject({ nodeName: text, nodeIP: text, timeServers: z.array(text).max(16).optional() }),
  changes: true,
  title: (given) => environmentTask.title({ ...given, timeServers: [] }),
  timeoutMs: () => environmentTask.timeoutMs,
  run: ({ scope }, { timeServers, ...given }) =>
    environmentTask.run(scope, { ...given, ...(timeServers === undefined ? {} : { timeServers }) }),
});
export const imagesStep = plainStep(imagesTask, z.strictObject({ images: z.array(text).max(256), registryHost: text }));

function plainStep<Parameters extends object>(task: Task<Parameters, object>, parameters: z.ZodType<Parameters>) {
  return stepKind({
    parameters,
    changes: true,
    title: (given) => task.title(given),
    timeoutMs: () => task.timeoutMs,
    run: ({ scope }, given) => task.run(scope, given),
  });
}

export const containerRuntimeStep = stepKind({
  parameters: z.strictObject({
    artifacts: z.strictObject({
      containerd: stepArtifact,
      runc: stepArtifact,
      crictl: stepArtifact,
      cniPlugins: stepArtifact,
    }),
    registryHost: text,
    /** Of a registry that is not the site's own. */
    registry: z
      .strictObject({ ca: z.string().max(65_536).optional(), rewrites: z.record(z.string(), text) })
      .optional(),
    mirrored: z.array(text).max(256),
    sandboxImage: text,
    settings: nodeSettingsFile.shape.containerd.unwrap(),
  }),
  changes: true,
  title: ({ artifacts }) => `containerd ${artifacts.containerd.version}`,
  timeoutMs: () => containerRuntimeTask.timeoutMs + downloadMs,
  run: async (context, { artifacts, registry, ...parameters }) => {
    const programs = await bringArtifacts(context, artifacts);
    const source = registry ?? { ca: context.settings.site.ca, rewrites: {} };
    await containerRuntimeTask.run(context.scope, { ...parameters, ...programs, ...source });
  },
});

export const kubernetesStep = stepKind({
  parameters: z.strictObject({
    artifacts: z.strictObject({ kubeadm: stepArtifact, kubelet: stepArtifact, kubectl: stepArtifact }),
    nodeIP: text,
    providerID: text.optional(),
    nodeLabels: labels.optional(),
    settings: z.strictObject({
      kubelet: nodeSettingsFile.shape.kubelet.unwrap(),
      kubeProxy: nodeSettingsFile.shape.kubeProxy.unwrap(),
    }),
  }),
  changes: true,
  title: ({ artifacts }) => `kubeadm, kubelet and kubectl ${artifacts.kubelet.version}`,
  timeoutMs: () => kubernetesTask.timeoutMs + downloadMs,
  run: async (context, { artifacts, providerID, nodeLabels, ...parameters }) => {
    const programs = await bringArtifacts(context, artifacts);
    await kubernetesTask.run(context.scope, {
      ...parameters,
      ...programs,
      ...(providerID === undefined ? {} : { providerID }),
      ...(nodeLabels === undefined ? {} : { nodeLabels }),
    });
  },
});
