// What `bke init` does to the services host, as phases of steps. Each step is skipped by observing; what one step makes, the next ones get from here.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import type { Phase, Step } from '../../operations/operation.ts';
import type { Bundle } from '../../release/bundle/open.ts';
import type { Platform } from '../../release/platforms.ts';
import type { ProgramArtifact } from '../node/programs.ts';
import { type TaskScope, taskStep } from '../task.ts';
import { filesTask } from './files-task.ts';
import { servicesHostTask } from './host-task.ts';
import { filesIn, imagesIn, programArtifact } from './content.ts';
import { dataPaths, servicePaths, unitNames } from './layout.ts';
import { loadFiles, loadImages, requireFiles, requireImages } from './load.ts';
import { missingFiles, missingImages, type RegistryToAsk } from './missing.ts';
import { ensurePushLogin, uploadSecret } from './push-login.ts';
import { type ContentRecord, contentText } from './records.ts';
import { registryTask } from './registry-task.ts';
import { ensureCertificates, type SiteCertificates } from './site-ca.ts';
import { readUnitState } from './unit-state.ts';

export interface ServicesPlan {
  /** As events name the host. */
  readonly host: string;
  readonly hostname: string;
  readonly settings: BootstrapSettings;
  readonly content: ContentRecord;
  readonly platform: Platform;
  /** Absent where what is there already stays. */
  readonly bundle: Bundle | undefined;
  /** The record says that this very bundle came to its end before; a dry run then looks whether it is all there. */
  readonly loaded: boolean;
  /** This bke. */
  readonly bke: ProgramArtifact;
  readonly now: Date;
}

const minuteMs = 60_000;
/** Bounded by the idle limits inside; this is for a disk that hangs. */
const loadMs = 6 * 3_600_000;

/** What earlier steps make and later ones use. */
class Made {
  #certificates: SiteCertificates | undefined;
  #password: string | undefined;

  get certificates(): SiteCertificates {
    return needed(this.#certificates);
  }

  get password(): string {
    return needed(this.#password);
  }

  async makeCertificates(scope: TaskScope, { settings, hostname, now }: ServicesPlan): Promise<void> {
    this.#certificates = await ensureCertificates(scope, { ...settings, hostname, now });
  }

  async makePassword(scope: TaskScope): Promise<void> {
    this.#password = await ensurePushLogin(scope);
  }
}

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an earlier step of this operation makes it');
  return value;
}

export interface ServicesPhases {
  readonly phases: readonly Phase<TaskScope>[];
  /** PEM of the site CA; asked while a later step runs. */
  readonly siteCa: () => string;
}

export function servicesPhases(plan: ServicesPlan): ServicesPhases {
  const made = new Made();
  const phase = (id: string, title: string, steps: Step<TaskScope>[]): Phase<TaskScope> => ({
    id,
    title,
    chains: [{ host: plan.host, steps }],
    stopOnFailure: true,
  });
  return {
    phases: [
      phase('services', 'Prepare the host', hostSteps(plan, made)),
      phase('content', 'Local services and their content', contentSteps(plan, made)),
    ],
    siteCa: () => made.certificates.ca,
  };
}

function hostSteps(plan: ServicesPlan, made: Made): Step<TaskScope>[] {
  return [
    taskStep(servicesHostTask, plan.settings),
    {
      name: 'services/certificates',
      title: 'Site CA and certificate of the services',
      timeoutMs: minuteMs,
      run: (scope) => made.makeCertificates(scope, plan),
    },
    {
      name: 'services/push-login',
      title: 'Login for pushes to the registry',
      timeoutMs: minuteMs,
      run: (scope) => made.makePassword(scope),
    },
  ];
}

function contentSteps(plan: ServicesPlan, made: Made): Step<TaskScope>[] {
  const { settings, bke, bundle, platform } = plan;
  const { catalogue } = plan.content;
  const program = programArtifact({ catalogue, platform }, dataPaths(settings.dataDir).files, 'registry');
  const registry = taskStep(registryTask, { settings, program }, () => ({
    ...made.certificates,
    uploadSecret: uploadSecret(made.password),
  }));
  return [
    bundle === undefined ? requireFilesStep(plan) : loadFilesStep(plan, bundle),
    registry,
    bundle === undefined ? requireImagesStep(plan, made) : loadImagesStep(plan, bundle, made),
    taskStep(filesTask, { settings, bke }, () => made.certificates),
    recordStep(plan),
  ];
}

function loadFilesStep({ settings, content, loaded }: ServicesPlan, bundle: Bundle): Step<TaskScope> {
  return {
    name: 'content/files',
    title: 'Files and charts',
    timeoutMs: loadMs,
    run: async (scope) => {
      const files = filesIn(content.catalogue);
      if (loaded && scope.dryRun && (await missingFiles(scope.host, settings.dataDir, files)).length === 0) return;
      await loadFiles(scope, bundle, settings);
    },
  };
}

function loadImagesStep({ settings, content, loaded }: ServicesPlan, bundle: Bundle, made: Made): Step<TaskScope> {
  return {
    name: 'content/images',
    title: 'Images',
    timeoutMs: loadMs,
    run: async (scope) => {
      const { ca } = made.certificates;
      if (loaded && scope.dryRun && (await isWhole({ settings, ca }, content))) return;
      await loadImages(scope, bundle, { settings, login: { ca, password: made.password } });
    },
  };
}

/** false as well where the registry cannot be asked, which a dry run does not start. */
async function isWhole(registry: RegistryToAsk, { catalogue }: ContentRecord): Promise<boolean> {
  return missingImages(registry, imagesIn(catalogue)).then(
    (missing) => missing.length === 0,
    () => false,
  );
}

/** Before anything is set up that would be made of them. */
function requireFilesStep(plan: ServicesPlan): Step<TaskScope> {
  return {
    name: 'content/files',
    title: 'Files and charts that were loaded before',
    timeoutMs: 5 * minuteMs,
    run: (scope) => requireFiles(scope, plan),
  };
}

function requireImagesStep({ settings, content }: ServicesPlan, made: Made): Step<TaskScope> {
  return {
    name: 'content/images',
    title: 'Images that were loaded before',
    timeoutMs: 5 * minuteMs,
    run: async (scope) => {
      // A dry run starts no registry that could be asked.
      if (scope.dryRun && (await readUnitState(scope.host, unitNames.registry)).active !== 'active') return;
      await requireImages(scope, { settings, ca: made.certificates.ca }, content);
    },
  };
}

/** Last of the content: only what came to its end is what a later init without a bundle goes by. */
function recordStep({ content }: ServicesPlan): Step<TaskScope> {
  return {
    name: 'content/record',
    title: 'Record of what was loaded',
    timeoutMs: minuteMs,
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
