// A terminal that keeps what is written to it.

export function keptStream(): {
  write(text: string): unknown;
  text(): string;
  columns: number;
  rows: number;
  isTTY: boolean;
} {
  const parts: string[] = [];
  return { write: (text) => parts.push(text), text: () => parts.join(''), columns: 80, rows: 24, isTTY: true };
}
