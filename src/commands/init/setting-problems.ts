// What is wrong with settings of init that only its own parts know: directories they use, and names of checks.
import type { EffectiveSettings, SettingsLayer } from '../../config/bootstrap.ts';
import { dataDirProblem } from '../../config/directories.ts';
import type { Problem } from '../../config/problem.ts';
import { dataDirOverlap } from '../../tasks/services/data-dir.ts';
import { checkNames } from './options.ts';

/** @param layers those that people gave. */
export function settingProblems(layers: readonly SettingsLayer[], effective: EffectiveSettings): Problem[] {
  return [...overlapProblems(layers, effective.settings.dataDir), ...checkNameProblems(effective)];
}

/** What is no usable path at all is told with the other settings. */
function overlapProblems(layers: readonly SettingsLayer[], dataDir: string): Problem[] {
  const message = dataDirProblem(dataDir) === undefined ? dataDirOverlap(dataDir) : undefined;
  if (message === undefined) return [];
  const field = 'dataDir';
  const layer = layers.find((other) => other.dataDir !== undefined);
  return [{ ...(layer?.place?.(field) ?? { at: layer?.source ?? 'default', field }), message }];
}

/** A misspelt name must not look obeyed. */
function checkNameProblems({ settings: { settings }, placeOf }: EffectiveSettings): Problem[] {
  const unknown = settings.ignoreChecks.filter((name) => !checkNames.includes(name));
  const at = placeOf('settings.ignoreChecks');
  return unknown.map((name) => ({ at, field: '', message: `there is no check named ${name}` }));
}
