// The process's streams and surroundings as values, so that main() runs in tests without them.

export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

export type InputStream = NodeJS.ReadableStream & { readonly isTTY?: boolean };

export type Env = Readonly<Record<string, string | undefined>>;

export interface Io {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Env;
  readonly cwd: string;
  readonly now: () => Date;
}

/** Some terminals (serial consoles, new pseudo terminals) say that they are 0 wide. */
export function terminalSize(stream: OutputStream): { columns: number; rows: number } {
  return { columns: size(stream.columns, 80), rows: size(stream.rows, 24) };
}

function size(told: number | undefined, otherwise: number): number {
  return told === undefined || told <= 0 ? otherwise : told;
}

/** Width for text that people read; lines longer than 100 are hard to read even where there is room. */
export function readableWidth(stream: OutputStream): number {
  return Math.max(40, Math.min(100, size(stream.columns, 100)));
}
