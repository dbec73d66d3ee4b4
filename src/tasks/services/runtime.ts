// containerd on the services host, and the proof that it pulls from the local registry.
import type { Phase } from '../../operations/operation.ts';
import { containerRuntimeTask, pullProofTask } from '../node/container-runtime.ts';
import { type TaskScope, taskStep } from '../task.ts';
import { imagesIn, programArtifact, registriesOf, sandboxImage } from './content.ts';
import { dataPaths, serviceUrls } from './layout.ts';
import { missingImages } from './missing.ts';
import type { ServicesPlan } from './phases.ts';

/** @param siteCa asked while a step runs */
export function runtimePhases(plan: ServicesPlan, siteCa: () => string): Phase<TaskScope>[] {
  const { settings, platform } = plan;
  const { catalogue } = plan.content;
  const content = { catalogue, platform };
  const { registryHost } = serviceUrls(settings);
  const filesDir = dataPaths(settings.dataDir).files;
  const image = sandboxImage(content);
  const runtime = taskStep(
    containerRuntimeTask,
    {
      containerd: programArtifact(content, filesDir, 'containerd'),
      runc: programArtifact(content, filesDir, 'runc'),
      crictl: programArtifact(content, filesDir, 'crictl'),
      cniPlugins: programArtifact(content, filesDir, 'cni-plugins'),
      registryHost,
      mirrored: registriesOf(catalogue),
      sandboxImage: image,
      settings: settings.settings.containerd,
    },
    () => ({ ca: siteCa() }),
  );
  const wanted = imagesIn(catalogue).filter(({ ref }) => ref === image);
  const proof = taskStep(pullProofTask, { image, registryHost }, () => ({
    missingParts: () => missingImages({ settings, ca: siteCa() }, wanted),
  }));
  const phase = (id: string, title: string, step: typeof runtime): Phase<TaskScope> => ({
    id,
    title,
    chains: [{ host: plan.host, steps: [step] }],
    stopOnFailure: true,
  });
  return [phase('runtime', 'Container runtime', runtime), phase('proof', 'Proof: an image is pulled', proof)];
}
