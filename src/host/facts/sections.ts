// The probe's output as it comes: lines by key.

export class Sections {
  readonly #lines = new Map<string, string[]>();

  /** @throws Error where the text is not what the probe prints, or not all of it. */
  static parse(output: string): Sections {
    const parsed: unknown = JSON.parse(output);
    if (!Array.isArray(parsed) || parsed.at(-1) !== 'end:') throw new Error('the output of the probe is not complete');
    const sections = new Sections();
    for (const entry of parsed) sections.#add(String(entry));
    return sections;
  }

  #add(entry: string): void {
    const colon = entry.indexOf(':');
    if (colon < 1) throw new Error(`the probe printed something unexpected: ${entry.slice(0, 100)}`);
    const key = entry.slice(0, colon);
    const line = entry.slice(colon + 1);
    const lines = this.#lines.get(key);
    if (lines === undefined) this.#lines.set(key, [line]);
    else lines.push(line);
  }

  all(key: string): readonly string[] {
    return this.#lines.get(key) ?? [];
  }

  /** The first line, trimmed; undefined where there is none or it is empty. */
  one(key: string): string | undefined {
    const line = this.all(key)[0]?.trim();
    return line === '' ? undefined : line;
  }

  /** @throws Error where it is missing. */
  need(key: string): string {
    const line = this.one(key);
    if (line === undefined) throw new Error(`the probe found no ${key}`);
    return line;
  }

  has(key: string): boolean {
    return this.#lines.has(key);
  }
}

/** Fields of a line that are separated by blanks. */
export function words(line: string): string[] {
  return line.split(/\s+/).filter((word) => word !== '');
}

/** A whole number, or undefined: for counts that some systems print as `-`. */
export function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
