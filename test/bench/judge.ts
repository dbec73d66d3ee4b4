// The last word of a bench: a figure, its bar, whether it is met, and how busy the machine was.
import { loadavg } from 'node:os';

export type Bar = { readonly atMost: number } | { readonly atLeast: number };

/** Prints it; a bar that is missed makes exit code 1. @param figure a ratio, or in `unit` */
export function judge(what: string, figure: number, bar: Bar, unit = ''): void {
  const [met, words] =
    'atMost' in bar
      ? [figure <= bar.atMost, `at most ${bar.atMost}${unit}`]
      : [figure >= bar.atLeast, `at least ${bar.atLeast}${unit}`];
  console.log(`${what}: ${shown(figure)}${unit} (bar: ${words}, ${load()}): ${met ? 'met' : 'MISSED'}`);
  if (!met) process.exitCode = 1;
}

/** Load of this machine: figures of a busy one mean little. */
export function load(): string {
  return `load ${loadavg()[0]?.toFixed(1)}`;
}

function shown(figure: number): string {
  return figure < 10 ? figure.toFixed(2) : figure.toFixed(0);
}
