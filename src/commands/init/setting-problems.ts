// What is wrong with settings of init that only its own parts know: directories they use, and ports of Kubernetes.
import { type EffectiveSettings, type PortName, portNames, type SettingsLayer } from '../../config/bootstrap.ts';
import { dataDirProblem } from '../../config/directories.ts';
import type { Problem } from '../../config/problem.ts';
import { kubernetesPorts } from '../../tasks/preflight/kubernetes-ports.ts';
import { dataDirOverlap } from '../../tasks/services/data-dir.ts';

type Settings = EffectiveSettings['settings'];

/** @param layers those that people gave. */
export function settingProblems(layers: readonly SettingsLayer[], { settings }: EffectiveSettings): Problem[] {
  return [...overlapProblems(layers, settings.dataDir), ...portProblems(layers, settings)];
}

/** What is no usable path at all is told with the other settings. */
function overlapProblems(layers: readonly SettingsLayer[], dataDir: string): Problem[] {
  const message = dataDirProblem(dataDir) === undefined ? dataDirOverlap(dataDir) : undefined;
  if (message === undefined) return [];
  const layer = layers.find((other) => other.dataDir !== undefined);
  return [{ ...placeIn(layer, 'dataDir'), message }];
}

/** Before the host is looked at: nothing listens there yet, and later the two would be in each other's way. */
function portProblems(layers: readonly SettingsLayer[], { bootstrap, ports }: Settings): Problem[] {
  if (bootstrap === 'none') return [];
  return kubernetesPorts(bootstrap, ports.kubernetes).flatMap(({ port, use }) => {
    const name = portNames.find((other) => ports[other] === port);
    if (name === undefined) return [];
    const given = layerOfPort(layers, name);
    // Of K3s' ports one follows from the port that was chosen for it.
    const blamed = given === undefined && port === ports.kubernetes + 1 ? 'kubernetes' : name;
    const layer = given ?? layerOfPort(layers, blamed);
    const message =
      blamed === name
        ? `${port} is a port of ${use}`
        : `${port}, the port after it, is also ports.${name}: K3s takes both`;
    return [{ ...placeIn(layer, `ports.${blamed}`), message }];
  });
}

function layerOfPort(layers: readonly SettingsLayer[], name: PortName): SettingsLayer | undefined {
  return layers.find(({ ports }) => ports?.[name] !== undefined);
}

function placeIn(layer: SettingsLayer | undefined, field: string): Pick<Problem, 'at' | 'field'> {
  return layer?.place?.(field) ?? { at: layer?.source ?? 'default', field };
}
