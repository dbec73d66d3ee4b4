// Running programs a host may lack: no program and no answer mean 'nothing known', never an error of the scan.
import type { z } from 'zod';
import type { Host, RunOptions } from '../host.ts';
import { programFolders } from '../system-path.ts';

/** Full path of a program of the host; undefined where it has none. */
export async function findProgram(host: Host, name: string): Promise<string | undefined> {
  for (const folder of programFolders) {
    const path = `${folder}/${name}`;
    const stat = await host.files.stat(path);
    if (stat !== undefined && stat.type !== 'directory') return path;
  }
  return undefined;
}

/** stdout of a program; undefined where the host has no such program or it failed. At most 8 MiB, 20 s unless told. */
export async function programOutput(
  host: Host,
  argv: readonly [string, ...string[]],
  options: RunOptions = {},
): Promise<string | undefined> {
  const [name, ...args] = argv;
  const program = await findProgram(host, name);
  if (program === undefined) return undefined;
  const result = await host.run([program, ...args], { timeoutMs: 20_000, maxOutputBytes: 8 << 20, ...options });
  return result.exitCode === 0 ? result.stdout : undefined;
}

/** A program's JSON answer in the wanted shape; `empty` where it said nothing (ip prints nothing for an empty list). */
export function parseAnswer<T>(json: string | undefined, shape: z.ZodType<T>, empty: T): T {
  return json === undefined || json.trim() === '' ? empty : shape.parse(JSON.parse(json));
}
