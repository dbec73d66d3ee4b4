// The file and chart repository: `bke serve` as a unit, run from a kept copy of this binary, so that the one a person moves about is not needed.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { installPrograms, type ProgramArtifact, restartKey } from '../node/programs.ts';
import type { Task } from '../task.ts';
import { unitNames } from './layout.ts';
import { renderFilesUnit } from './render.ts';
import type { SiteCertificates } from './site-ca.ts';
import { waitForService } from './wait.ts';

export interface FilesParameters {
  readonly settings: BootstrapSettings;
  /** This bke. */
  readonly bke: ProgramArtifact;
}

export const filesTask: Task<FilesParameters, Pick<SiteCertificates, 'ca'>> = {
  name: 'services/files',
  title: ({ bke }) => `File and chart repository (bke ${bke.version})`,
  timeoutMs: 3 * 60_000,
  run: async (scope, { settings, bke, ca }) => {
    const installed = await installPrograms(scope, bke);
    await scope.apply({
      kind: 'unit',
      name: unitNames.files,
      text: await renderFilesUnit(settings, await installed.path('bke')),
      enabled: true,
      running: true,
      // A new certificate is read by itself.
      restartKey: restartKey(bke.digest),
    });
    await waitForService(scope, { settings, ca, service: 'files' });
    await waitForService(scope, { settings, ca, service: 'charts' });
  },
};
