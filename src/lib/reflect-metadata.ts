// The two functions of the reflect-metadata proposal that @peculiar/x509's dependency container asks for when it is loaded.

type MetadataReflect = typeof Reflect & {
  getMetadata?: (key: unknown, target: object) => unknown;
  getOwnMetadata?: (key: unknown, target: object) => unknown;
  defineMetadata?: (key: unknown, value: unknown, target: object) => void;
};

/** Must run before `import('@peculiar/x509')`; does nothing where a full implementation is already there. */
export function ensureReflectMetadata(): void {
  const reflect: MetadataReflect = Reflect;
  if (reflect.getMetadata !== undefined) return;
  const store = new WeakMap<object, Map<unknown, unknown>>();
  const own = (key: unknown, target: object): unknown => store.get(target)?.get(key);
  reflect.defineMetadata = (key, value, target) => {
    const known = store.get(target) ?? new Map<unknown, unknown>();
    store.set(target, known.set(key, value));
  };
  reflect.getOwnMetadata = own;
  reflect.getMetadata = (key, target) => {
    for (let at: object | null = target; at !== null; at = Reflect.getPrototypeOf(at)) {
      const value = own(key, at);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}
