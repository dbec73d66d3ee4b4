// Reads a scan that was written to a file.
import { z } from 'zod';
import type { Scan } from './scan.ts';

const scanFile = z.record(z.string(), z.record(z.string(), z.string()));

/** Parses the JSON of a scan; throws when it is none. */
export function parseScan(text: string): Scan {
  return scanFile.parse(JSON.parse(text));
}
