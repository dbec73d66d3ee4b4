// Errors of the operating system, told apart by their code.

/** Whether `thrown` is a system error with one of the codes, e.g. ENOENT. */
export function isErrno(thrown: unknown, ...codes: readonly string[]): boolean {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' && codes.includes(thrown.code);
}
