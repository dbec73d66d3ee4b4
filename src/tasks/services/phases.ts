// What `bke init` does to the services host, as phases of steps. Each step is skipped by observing; what one step makes, the next ones get from here.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import type { Scope } from '../../host/changes/change.ts';
import type { Phase, Step } from '../../operations/operation.ts';
import type { Bundle } from '../../release/bundle/open.ts';
import { containerRuntimeTask, pullProofTask } from '../node/container-runtime.ts';
import type { ProgramArtifact } from '../node/programs.ts';
import { type TaskScope, taskStep } from '../task.ts';
import { filesTask } from './files-task.ts';
import { servicesHostTask } from './host-task.ts';
import { servicePaths, serviceUrls } from './layout.ts';
import { loadFiles, loadImages } from './load.ts';
import { ensurePushLogin, uploadSecret } from './push-login.ts';
import { type ContentRecord, contentText, type ProgramName } from './records.ts';
import { registryTask } from './registry-task.ts';
import { ensureCertificates, type SiteCertificates } from './site-ca.ts';

export interface ServicesPlan {
  /** As events name the host. */
  readonly host: string;
  readonly hostname: string;
  readonly settings: BootstrapSettings;
  readonly content: ContentRecord;
  /** Absent where what is there already stays. */
  readonly bundle: Bundle | undefined;
  /** In a dry run: the bundle was loaded before, so that loading it would find nothing to do. */
  readonly loaded: boolean;
  /** This bke. */
  readonly bke: ProgramArtifact;
  readonly now: Date;
}

/** Whose reset undoes a phase: containerd belongs to the bootstrap cluster, everything else to the services. */
export function scopeOfPhase(phase: string): Scope {
  return phase === 'runtime' || phase === 'proof' ? 'bootstrap-cluster' : 'services';
}

/** What earlier steps made and later ones use. */
interface Made {
  certificates: SiteCertificates | undefined;
  password: string | undefined;
}

export function servicesPhases(plan: ServicesPlan): Phase<TaskScope>[] {
  const made: Made = { certificates: undefined, password: undefined };
  const phase = (id: string, title: string, steps: Step<TaskScope>[]): Phase<TaskScope> => ({
    id,
    title,
    chains: [{ host: plan.host, steps }],
    stopOnFailure: true,
  });
  return [
    phase('services', 'Prepare the host', [
      taskStep(servicesHostTask, plan.settings),
      certificatesStep(plan, made),
      pushLoginStep(made),
    ]),
    phase('content', 'Local services and their content', [
      ...(plan.bundle === undefined || plan.loaded ? [] : [loadFilesStep(plan, plan.bundle)]),
      registryStep(plan, made),
      ...(plan.bundle === undefined || plan.loaded ? [] : [loadImagesStep(plan, plan.bundle, made)]),
      filesStep(plan, made),
      recordStep(plan),
    ]),
    phase('runtime', 'Container runtime', [runtimeStep(plan, made)]),
    phase('proof', 'Proof', [
      taskStep(pullProofTask, {
        image: plan.content.sandboxImage,
        registryHost: serviceUrls(plan.settings).registryHost,
      }),
    ]),
  ];
}

function certificatesStep({ settings, hostname, now }: ServicesPlan, made: Made): Step<TaskScope> {
  return {
    name: 'services/certificates',
    title: 'Site CA and certificate of the services',
    timeoutMs: 60_000,
    run: async (scope) => {
      made.certificates = await ensureCertificates(scope, { ...settings, hostname, now });
    },
  };
}

function pushLoginStep(made: Made): Step<TaskScope> {
  return {
    name: 'services/push-login',
    title: 'Login for pushes to the registry',
    timeoutMs: 60_000,
    run: async (scope) => {
      made.password = await ensurePushLogin(scope);
    },
  };
}

function loadFilesStep({ settings }: ServicesPlan, bundle: Bundle): Step<TaskScope> {
  return {
    name: 'content/files',
    title: 'Files and charts',
    // Bounded by the idle limits inside; this is for a disk that hangs.
    timeoutMs: 6 * 3_600_000,
    run: (scope) => loadFiles(scope, bundle, settings),
  };
}

function registryStep(plan: ServicesPlan, made: Made): Step<TaskScope> {
  const program = programArtifact(plan, 'registry');
  return {
    name: registryTask.name,
    title: `Image registry ${program.version}`,
    timeoutMs: registryTask.timeoutMs,
    run: (scope) =>
      registryTask.run(scope, {
        settings: plan.settings,
        program,
        uploadSecret: uploadSecret(needed(made.password)),
        ...certificatesOf(made),
      }),
  };
}

function loadImagesStep({ settings }: ServicesPlan, bundle: Bundle, made: Made): Step<TaskScope> {
  return {
    name: 'content/images',
    title: 'Images',
    timeoutMs: 6 * 3_600_000,
    run: (scope) => {
      const login = { ca: certificatesOf(made).ca, password: needed(made.password) };
      return loadImages(scope, bundle, { settings, login });
    },
  };
}

function filesStep({ settings, bke }: ServicesPlan, made: Made): Step<TaskScope> {
  return {
    name: filesTask.name,
    title: `File and chart repository (bke ${bke.version})`,
    timeoutMs: filesTask.timeoutMs,
    run: (scope) => filesTask.run(scope, { settings, bke, ca: certificatesOf(made).ca }),
  };
}

/** Last of the content: only what came to its end is what a later init without a bundle goes by. */
function recordStep({ content }: ServicesPlan): Step<TaskScope> {
  return {
    name: 'content/record',
    title: 'Record of what was loaded',
    timeoutMs: 60_000,
    run: async (scope) => {
      await scope.apply({
        kind: 'file',
        path: servicePaths.content,
        mode: 0o644,
        content: { text: contentText(content) },
      });
    },
  };
}

function runtimeStep(plan: ServicesPlan, made: Made): Step<TaskScope> {
  const containerd = programArtifact(plan, 'containerd');
  return {
    name: containerRuntimeTask.name,
    title: `containerd ${containerd.version}`,
    timeoutMs: containerRuntimeTask.timeoutMs,
    run: (scope) =>
      containerRuntimeTask.run(scope, {
        containerd,
        runc: programArtifact(plan, 'runc'),
        crictl: programArtifact(plan, 'crictl'),
        cniPlugins: programArtifact(plan, 'cni-plugins'),
        registry: { host: serviceUrls(plan.settings).registryHost, ca: certificatesOf(made).ca },
        mirrored: plan.content.registries,
        sandboxImage: plan.content.sandboxImage,
        settings: plan.settings.containerd,
      }),
  };
}

/** A program in the local file repository. */
function programArtifact({ content, settings }: ServicesPlan, name: ProgramName): ProgramArtifact {
  const { version, type, path, digest } = content.programs[name];
  return { name, version, type, digest, source: `${settings.dataDir}/files/${path}` };
}

function certificatesOf(made: Made): SiteCertificates {
  return needed(made.certificates);
}

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an earlier step of this operation makes it');
  return value;
}
