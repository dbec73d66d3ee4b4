// Fields of objects whose types bke does not have: looked up by path, undefined where they are not there or are something else.
import type { KubeObject, ObjectKey } from './client.ts';

export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

/** undefined also where the text is empty. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** Empty where there is no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** As far as a client looks at it itself. */
export function isKubeObject(value: unknown): value is KubeObject {
  const metadata = fieldAt(value, 'metadata');
  return textAt(value, 'kind') !== undefined && typeof metadata === 'object' && metadata !== null;
}

export function keyOf({ apiVersion, kind, metadata: { namespace, name } }: KubeObject): ObjectKey {
  return { apiVersion, kind, namespace, name };
}
