// Variables in the manifests of Cluster API providers: what clusterctl's processor makes of `${NAME}` and `${NAME:=default}` (drone/envsubst).
import { BkeError } from '../../lib/errors.ts';

export type Variables = Readonly<Record<string, string>>;

interface Work {
  /** Of the manifest, for errors. */
  readonly name: string;
  readonly text: string;
  readonly values: Variables;
}

interface Replaced {
  readonly text: string;
  /** Where the source goes on behind it. */
  readonly end: number;
  /** Variables that were needed and have no value. */
  readonly missing: readonly string[];
}

/** clusterctl tolerates spaces around a name, where nothing else is in the braces. */
const plain = /\$\{\s*([\p{L}\p{Nd}_]+)\s*\}/uy;
/** Each of these operators gives a default: the processor makes no difference between them. */
const withDefault = /\$\{([\p{L}\p{Nd}_]+)(?::?=|:[-?+])/uy;

/**
 * The text with every variable replaced. An empty value counts as none where there is a default, an empty default as none. `$${NAME}` stands for the
 * text `${NAME}`; `$NAME` is no variable. Of the processor's other forms (substrings, letter case, replacement) no provider uses any: they are refused.
 * @param name of the manifest, for errors.
 * @throws BkeError BKE_COMPONENTS_INVALID that names all variables with neither value nor default, or an expression that is no variable.
 */
export function substituteVariables(name: string, text: string, values: Variables): string {
  const work: Work = { name, text, values };
  const missing = new Set<string>();
  let made = '';
  let rest = 0;
  for (let at = text.indexOf('$'); at !== -1; at = text.indexOf('$', rest)) {
    const replaced = dollarAt(work, at);
    made += text.slice(rest, at) + replaced.text;
    rest = replaced.end;
    for (const variable of replaced.missing) missing.add(variable);
  }
  if (missing.size > 0) {
    const names = [...missing].sort().join(', ');
    throw new BkeError('BKE_COMPONENTS_INVALID', `${name} has variables with neither value nor default: ${names}`);
  }
  return made + text.slice(rest);
}

function dollarAt(work: Work, at: number): Replaced {
  if (work.text.startsWith('${', at)) return variableAt(work, at);
  return { text: '$', end: at + (work.text.startsWith('$$', at) ? 2 : 1), missing: [] };
}

function variableAt(work: Work, at: number): Replaced {
  const [whole, name] = match(plain, work.text, at) ?? [];
  if (whole === undefined || name === undefined) return variableWithDefaultAt(work, at);
  const value = work.values[name];
  return { text: value ?? '', end: at + whole.length, missing: value === undefined ? [name] : [] };
}

function variableWithDefaultAt(work: Work, at: number): Replaced {
  const [head, name] = match(withDefault, work.text, at) ?? [];
  if (head === undefined || name === undefined) throw notUnderstood(work, at);
  const fallback = defaultAt(work, at + head.length);
  if (work.text[fallback.end] !== '}') throw notUnderstood(work, at);
  const end = fallback.end + 1;
  const value = work.values[name];
  if (value !== undefined && value !== '') return { text: value, end, missing: [] };
  const hasDefault = fallback.text !== '' || fallback.missing.length > 0;
  return { text: fallback.text, end, missing: value === undefined && !hasDefault ? [name] : fallback.missing };
}

/** The text up to the closing brace, in which further variables may be. */
function defaultAt(work: Work, start: number): Replaced {
  const { text } = work;
  const missing: string[] = [];
  let made = '';
  let at = start;
  while (at < text.length && text[at] !== '}') {
    if (text.startsWith('${', at)) {
      const inner = variableAt(work, at);
      made += inner.text;
      missing.push(...inner.missing);
      at = inner.end;
    } else {
      made += text.charAt(at);
      at += 1;
    }
  }
  return { text: made, end: at, missing };
}

function match(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

function notUnderstood({ name, text }: Work, at: number): BkeError {
  const line = text.slice(0, at).split('\n').length;
  const [shown] = text.slice(at, at + 60).split('\n');
  return new BkeError('BKE_COMPONENTS_INVALID', `${name} has on line ${line} what is no variable: ${shown}`);
}
