// The image registry: two units of CNCF Distribution on one store, one that everybody reads and one that takes pushes (ARCHITECTURE.md, "bke init").
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { installPrograms, type ProgramArtifact, restartKey } from '../node/programs.ts';
import type { Task } from '../task.ts';
import { servicePaths, serviceUser, unitNames } from './layout.ts';
import { renderRegistry } from './render.ts';
import { waitForService } from './wait.ts';

export interface RegistryParameters {
  readonly settings: BootstrapSettings;
  readonly program: ProgramArtifact;
}

/** Made by the steps before it. */
export interface RegistrySecrets {
  /** Signs the state of uploads. */
  readonly uploadSecret: string;
  /** PEM of the site CA. */
  readonly ca: string;
  /** Of the serving certificate: a registry reads it only when it starts. */
  readonly leafDigest: string;
}

export const registryTask: Task<RegistryParameters, RegistrySecrets> = {
  name: 'services/registry',
  title: ({ program }) => `Image registry ${program.version}`,
  timeoutMs: 5 * 60_000,
  run: async (scope, { settings, program, uploadSecret, ca, leafDigest }) => {
    const installed = await installPrograms(scope, program);
    const texts = await renderRegistry(settings, { program: await installed.path('registry'), uploadSecret });
    const { registryConfig, registryPushConfig } = servicePaths;
    await scope.apply({ kind: 'file', path: registryConfig, mode: 0o644, content: { text: texts.registryConfig } });
    const owner = { user: serviceUser, group: serviceUser };
    const content = { text: texts.registryPushConfig };
    await scope.apply({ kind: 'file', path: registryPushConfig, mode: 0o600, owner, content });
    const unit = (name: string, text: string, config: string): Promise<boolean> =>
      scope.apply({
        kind: 'unit',
        name,
        text,
        enabled: true,
        running: true,
        restartKey: restartKey(config, leafDigest, program.digest),
      });
    await unit(unitNames.registryPush, texts.registryPushUnit, texts.registryPushConfig);
    await unit(unitNames.registry, texts.registryUnit, texts.registryConfig);
    await waitForService(scope, { settings, ca, service: 'registry-push' });
    await waitForService(scope, { settings, ca, service: 'registry' });
  },
};
