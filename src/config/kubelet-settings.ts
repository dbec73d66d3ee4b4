// Settings of the kubelet that it would refuse on every node, or that are not people's to set: told where they are written.
import { isMapping } from '../lib/is-mapping.ts';
import { portsOfControlPlane, portsOfEtcd, portsOfNodes } from '../lib/kubernetes-ports.ts';
import { nearest } from '../lib/suggest.ts';
import { listed, truncate } from '../lib/text.ts';
import { type KubeletForm, kubeletForms, ownKubeletFields } from './kubelet-fields.ts';
import type { Finding } from './read-yaml.ts';

type Path = Finding['path'];

/** @param path of the mapping. null takes a field away that bke or kubeadm sets. */
export function kubeletFindings(settings: unknown, path: Path): Finding[] {
  if (!isMapping(settings)) return [];
  const fields = Object.entries(settings).flatMap(([name, value]) => fieldFindings(name, value, [...path, name]));
  return [...fields, ...thresholdOrder(settings, path)];
}

function fieldFindings(name: string, value: unknown, path: Path): Finding[] {
  const own = ownOf(name);
  if (own !== undefined) return [{ path, message: own }];
  const form = formOf(name);
  if (form === undefined) return spelling(name, path);
  if (value === null) return [];
  const found = formFindings(form, value, path);
  return found.length === 0 ? portFindings(name, value, path) : found;
}

function ownOf(name: string): string | undefined {
  return Object.hasOwn(ownKubeletFields, name) ? ownKubeletFields[name] : undefined;
}

function formOf(name: string): KubeletForm | undefined {
  return Object.hasOwn(kubeletForms, name) ? kubeletForms[name] : undefined;
}

const known = [...Object.keys(kubeletForms), ...Object.keys(ownKubeletFields)];

/** A later kubelet may have more fields: only what differs in its letters' case is certainly none. */
function spelling(name: string, path: Path): Finding[] {
  const near = nearest(name, known);
  if (near === undefined) return [];
  if (near.toLowerCase() === name.toLowerCase()) return [{ path, message: `must be written ${near}` }];
  const message = `is no field of the kubelet that bke knows, and is handed on as it is; did you mean ${near}?`;
  return [{ path, message, warning: true }];
}

function formFindings(form: KubeletForm, value: unknown, path: Path): Finding[] {
  if (form.is !== 'each') {
    const wanted = unlessFits(form, value);
    const message = `must be ${wanted ?? ''}, but is ${shown(value)}${form.is === 'word' ? meant(value, form.words) : ''}`;
    return wanted === undefined ? [] : [{ path, message }];
  }
  if (!isMapping(value)) return [{ path, message: `must be a mapping, but is ${shown(value)}` }];
  return Object.entries(value).flatMap(([key, item]) => formFindings(form.form, item, [...path, key]));
}

/** What it must be; undefined: it is. */
function unlessFits(form: Exclude<KubeletForm, { is: 'each' }>, value: unknown): string | undefined {
  if (form.is === 'integer') return unlessInteger(form, value);
  if (form.is === 'word') return form.words.some((word) => word === value) ? undefined : listed(form.words, 'or');
  const { fits, words } = forms[form.is];
  return fits(value) ? undefined : words;
}

function meant(value: unknown, words: readonly string[]): string {
  const near = typeof value === 'string' ? nearest(value, words) : undefined;
  return near === undefined ? '' : `; did you mean ${near}?`;
}

function unlessInteger(
  { least, most }: { readonly least?: number; readonly most?: number },
  value: unknown,
): string | undefined {
  const isIn = Number.isInteger(value) && Number(value) >= (least ?? -Infinity) && Number(value) <= (most ?? Infinity);
  if (isIn) return undefined;
  if (least !== undefined && most !== undefined) return `a whole number from ${least} to ${most}`;
  return least === undefined ? 'a whole number' : `a whole number of at least ${least}`;
}

const quantity = /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const goDuration = /^(0|[+-]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+)$/;
const isText = (value: unknown): value is string => typeof value === 'string';

type Simple = Exclude<KubeletForm['is'], 'integer' | 'word' | 'each'>;

const forms: Readonly<Record<Simple, { readonly fits: (value: unknown) => boolean; readonly words: string }>> = {
  number: { fits: (value) => typeof value === 'number', words: 'a number' },
  boolean: { fits: (value) => typeof value === 'boolean', words: 'true or false' },
  text: { fits: isText, words: 'text (put it in quotes)' },
  list: { fits: Array.isArray, words: 'a list' },
  mapping: { fits: isMapping, words: 'a mapping' },
  duration: {
    fits: (value) => isText(value) && goDuration.test(value),
    words: 'a duration with its unit, such as 30s',
  },
  quantity: {
    fits: (value) => isText(value) && quantity.test(value),
    words: 'a quantity as text, such as 500Mi or "2" in quotes',
  },
  threshold: {
    fits: (value) => isText(value) && (quantity.test(value) || /^\d+(\.\d+)?%$/.test(value)),
    words: 'a quantity or a share as text, such as 500Mi or 10%',
  },
};

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isMapping(value)) return 'a mapping';
  return truncate(JSON.stringify(value) ?? 'nothing', 40);
}

/** One that another program of a node has is not free for the kubelet. */
function portFindings(name: string, value: unknown, path: Path): Finding[] {
  if (!name.endsWith('Port')) return [];
  const found = [...portsOfNodes, ...portsOfControlPlane, ...portsOfEtcd].find(([port]) => port === value);
  return found === undefined ? [] : [{ path, message: `${found[0]} is taken on the host itself (${found[1]})` }];
}

function thresholdOrder(settings: object, path: Path): Finding[] {
  const [high, low] = ['High', 'Low'].map((word): unknown => Reflect.get(settings, `imageGC${word}ThresholdPercent`));
  if (typeof high !== 'number' || typeof low !== 'number' || low < high) return [];
  const message = `must be less than imageGCHighThresholdPercent (${high}), but is ${low}`;
  return [{ path: [...path, 'imageGCLowThresholdPercent'], message }];
}
