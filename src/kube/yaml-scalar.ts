// What an unquoted YAML scalar means to Kubernetes: YAML 1.1 as its reader (sigs.k8s.io/yaml, go.yaml.in/yaml/v2 resolve.go) takes it, not YAML 1.2.

/** A number that JavaScript cannot keep exactly, or that JSON has no form for. */
export class UnusableNumber extends Error {
  override readonly name = 'UnusableNumber';
}

const words = new Map<string, boolean | null>([
  ...spellings('y', 'yes', 'true', 'on').map((word) => [word, true] as const),
  ...spellings('n', 'no', 'false', 'off').map((word) => [word, false] as const),
  ...spellings('~', 'null', '').map((word) => [word, null] as const),
]);

/** Go's integers with a prefix for the base, as ParseInt(text, 0) reads them: a leading 0 is octal. */
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const pointFirst = /^\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?$/;
const noNumber = /^[-+]?\.(nan|NaN|NAN|inf|Inf|INF)$/;

/** @throws UnusableNumber */
export function plainScalar(source: string): string | number | boolean | null {
  const word = words.get(source);
  if (word !== undefined) return word;
  if (noNumber.test(source)) throw new UnusableNumber(`${source} has no form in JSON`);
  if (!/^[-+.0-9]/.test(source)) return source;
  // Where a number begins with its point, Go allows a line only between digits; elsewhere YAML does anywhere.
  if (source.startsWith('.') && !pointFirst.test(source)) return source;
  const digits = source.replaceAll('_', '');
  const match = integer.exec(digits);
  if (match !== null) return exactly(integerOf(match), source);
  const number = float.test(digits) ? Number(digits) : Number.POSITIVE_INFINITY;
  return Number.isFinite(number) ? number : source;
}

function integerOf([, sign, hex, binary, octal, decimal]: RegExpExecArray): number {
  const value =
    hex !== undefined
      ? `0x${hex}`
      : binary !== undefined
        ? `0b${binary}`
        : octal !== undefined
          ? `0o${octal}`
          : decimal;
  const number = Number(value);
  return sign === '-' && number !== 0 ? -number : number;
}

function exactly(value: number, source: string): number {
  if (!Number.isSafeInteger(value)) throw new UnusableNumber(`${source} is too large to be kept exactly`);
  return value;
}

/** yes, Yes, YES */
function spellings(...lower: readonly string[]): string[] {
  return [
    ...new Set(lower.flatMap((word) => [word, word.slice(0, 1).toUpperCase() + word.slice(1), word.toUpperCase()])),
  ];
}
