// Reads a command's input by name and type; a name or type the declaration does not have is a bug of ours and says so.
import type { CommandInput } from './command.ts';

export interface InputReader {
  flag(name: string): boolean;
  /** How often a repeatable flag was given. */
  count(name: string): number;
  text(name: string): string | undefined;
  /** An option with a default or required, or an argument that is not optional. */
  requiredText(name: string): string;
  /** integer, port, or duration (milliseconds). */
  number(name: string): number | undefined;
  requiredNumber(name: string): number;
  /** A repeatable option or variadic argument; empty where it was not given. */
  texts(name: string): readonly string[];
}

/** @param input what a handler got. Names are camelCase. */
export function readInput(input: CommandInput): InputReader {
  const wrong = (name: string, wanted: string): Error =>
    new Error(`input '${name}' is ${typeof input[name]}, not ${wanted}`);
  const text = (name: string): string | undefined => {
    const value = input[name];
    if (value !== undefined && typeof value !== 'string') throw wrong(name, 'a text');
    return value;
  };
  const number = (name: string): number | undefined => {
    const value = input[name];
    if (value !== undefined && typeof value !== 'number') throw wrong(name, 'a number');
    return value;
  };
  const given = <Value>(name: string, value: Value | undefined): Value => {
    if (value === undefined) throw wrong(name, 'given');
    return value;
  };
  return {
    flag: (name) => {
      const value = input[name];
      if (typeof value !== 'boolean') throw wrong(name, 'a flag');
      return value;
    },
    count: (name) => given(name, number(name)),
    text,
    requiredText: (name) => given(name, text(name)),
    number,
    requiredNumber: (name) => given(name, number(name)),
    texts: (name) => {
      const value = input[name] ?? [];
      if (!Array.isArray(value)) throw wrong(name, 'a list');
      return value.map((entry: unknown) => {
        if (typeof entry !== 'string') throw wrong(name, 'a list of texts');
        return entry;
      });
    },
  };
}
