// A host that is initialised and reset again and again, and compared with what it was before bke came.
import { expect } from 'vitest';
import { diffScans, type Scan, scanMachine } from '../../testbed/index.ts';
import { type BkeHost, bkeHost, initOptions, outcome } from './bke-host.ts';

export interface ResetHost extends BkeHost {
  scan(): Promise<Scan>;
  /** What differs from the host as it was at first. */
  difference(): Promise<string[]>;
  init(): Promise<void>;
  /** Fails unless the exit code is 0. */
  reset(words?: string): Promise<{ milliseconds: number; text: string }>;
  /** Ends a command with SIGKILL after a while; whether it was still running. */
  killed(words: string, seconds: number): Promise<boolean>;
}

export async function resetHost(name: string): Promise<ResetHost> {
  const host = await bkeHost(name);
  const before = await scanMachine(host);
  const scan = async (): Promise<Scan> => {
    // Any question about the clock starts this service, and it ends by itself half a minute later.
    await host.exec('systemctl stop systemd-timedated');
    return scanMachine(host);
  };
  return {
    ...host,
    scan,
    difference: async () => diffScans(before, await scan()),
    init: async () => {
      const result = await host.bke(`init ${initOptions} --yes`);
      expect(result.exitCode, outcome(result)).toBe(0);
    },
    reset: async (words = '--all --mount') => {
      const began = Date.now();
      const result = await host.bke(`reset ${words} --yes`);
      expect(result.exitCode, outcome(result)).toBe(0);
      return { milliseconds: Date.now() - began, text: result.stdout + result.stderr };
    },
    killed: async (words, seconds) => {
      const script = `bke ${words} >/tmp/killed 2>&1 & pid=$!; sleep ${seconds.toFixed(2)}; kill -9 $pid 2>/dev/null && echo yes; wait; true`;
      return (await host.output(script)).includes('yes');
    },
  };
}
