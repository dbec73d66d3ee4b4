// What is wrong with settings of init that only its own parts know: directories they use.
import type { EffectiveSettings, SettingsLayer } from '../../config/bootstrap.ts';
import { dataDirProblem } from '../../config/directories.ts';
import type { Problem } from '../../config/problem.ts';
import { dataDirOverlap } from '../../tasks/services/data-dir.ts';

/** @param layers those that people gave. */
export function settingProblems(layers: readonly SettingsLayer[], effective: EffectiveSettings): Problem[] {
  return overlapProblems(layers, effective.settings.dataDir);
}

/** What is no usable path at all is told with the other settings. */
function overlapProblems(layers: readonly SettingsLayer[], dataDir: string): Problem[] {
  const message = dataDirProblem(dataDir) === undefined ? dataDirOverlap(dataDir) : undefined;
  if (message === undefined) return [];
  const field = 'dataDir';
  const layer = layers.find((other) => other.dataDir !== undefined);
  return [{ ...(layer?.place?.(field) ?? { at: layer?.source ?? 'default', field }), message }];
}
