// Fields that may be undefined, as fields that may be absent: what exactOptionalPropertyTypes tells apart.

export type Defined<Of> = { [Key in keyof Of as undefined extends Of[Key] ? never : Key]: Of[Key] } & {
  [Key in keyof Of as undefined extends Of[Key] ? Key : never]?: Exclude<Of[Key], undefined>;
};

/** Without the fields that are there but undefined. */
export function defined<Of extends object>(value: Of): Defined<Of> {
  // oxlint-disable-next-line no-unsafe-type-assertion -- what was undefined is left out
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<Of>;
}
