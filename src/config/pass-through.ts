// Values that reach other programs as they are: numbers that YAML would hand on as something else than what was written, and what a kubelet would refuse.
import { kubeletFindings } from './kubelet-settings.ts';
import type { Finding, WrittenSource } from './read-yaml.ts';

/** Fields below which everything is handed on. */
const handedOn = ['kubelet', 'kubeProxy', 'containerd'];

export function passThroughFindings(raw: unknown, source: WrittenSource): Finding[] {
  const spec = ['spec'];
  const settings = handedOn.map((name) => [...spec, 'settings', name]);
  const addons: unknown = at(raw, [...spec, 'addons']);
  const values = Array.isArray(addons) ? addons.map((_, index) => [...spec, 'addons', index, 'values']) : [];
  const kubelet = [...spec, 'settings', 'kubelet'];
  return [
    ...[...settings, ...values].flatMap((path) => numberFindings(at(raw, path), path, source)),
    ...kubeletFindings(at(raw, kubelet), kubelet),
  ];
}

function numberFindings(value: unknown, path: Finding['path'], source: WrittenSource): Finding[] {
  if (typeof value === 'number') {
    const found = numberFinding(value, source.writtenAt(path) ?? '');
    return found === undefined ? [] : [{ path, ...found }];
  }
  if (typeof value !== 'object' || value === null) return [];
  const inner = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value);
  return inner.flatMap(([key, item]) => numberFindings(item, [...path, key], source));
}

function numberFinding(value: number, written: string): Omit<Finding, 'path'> | undefined {
  if (!Number.isFinite(value)) return { message: `${written} is no number that can be handed on` };
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return { message: `${written} is too large to be kept exactly; put it in quotes if it is a text` };
  if (/^[-+]?\d+\.\d*0$/.test(written))
    return {
      message: `${written} would be handed on as ${value}: write "${written}" if it is a text such as a version, else ${value}`,
    };
  if (/^[-+]?0\d/.test(written))
    return {
      message: `${written} is the number ${value}; write "${written}" for a text, 0o${written.replace(/^[-+]?0+/, '')} for an octal number`,
      warning: true,
    };
  return undefined;
}

function at(value: unknown, path: Finding['path']): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}
