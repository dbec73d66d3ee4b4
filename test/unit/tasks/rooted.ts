// A task's scope on a directory that stands for a host: the real ledger and the real kinds of changes, only the root is another.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host, RunResult } from '../../../src/host/host.ts';
import { openLedger } from '../../../src/host/ledger/ledger.ts';
import { openLocalHost } from '../../../src/host/local/local-host.ts';
import type { TaskScope } from '../../../src/tasks/task.ts';

export interface RootedHost {
  readonly root: string;
  readonly host: Host;
  /** Runs a task with a ledger of its own run; returns descriptions of what changed. */
  run(task: (scope: TaskScope) => Promise<void>): Promise<string[]>;
  remove(): Promise<void>;
}

export type FakePrograms = (argv: readonly string[]) => RunResult;

const unknownProgram: FakePrograms = (argv) => ({ exitCode: 127, stdout: '', stderr: `${argv[0]}: not found` });

export async function rootedHost(programs: FakePrograms = unknownProgram): Promise<RootedHost> {
  const root = await mkdtemp(join(tmpdir(), 'bke-host-'));
  await chmod(root, 0o755);
  for (const folder of ['etc', 'proc/sys/net/ipv4', 'var/lib', 'usr/local/bin', 'run', 'opt']) {
    await mkdir(join(root, folder), { recursive: true, mode: 0o755 });
  }
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\nbke:x:990:990::/:/usr/sbin/nologin\n');
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nbke:x:990:\n');
  await writeFile(join(root, 'etc/machine-id'), '0123456789abcdef0123456789abcdef\n');
  await writeFile(join(root, 'proc/sys/net/ipv4/ip_local_reserved_ports'), '\n');
  const local = await openLocalHost({ root });
  const host: Host = {
    name: 'h1',
    files: local.files,
    run: async (argv) => programs(argv),
    upload: (source, path, target) => local.upload(source, path, target),
    close: () => local.close(),
  };
  return {
    root,
    host,
    run: async (task) => {
      const ledger = await openLedger(host, { operation: 'test', command: 'test' });
      const changed: string[] = [];
      const scope: TaskScope = {
        host,
        dryRun: false,
        signal: new AbortController().signal,
        apply: async (change) => {
          const result = await ledger.apply('services', change);
          if (result.changed)
            changed.push(
              `${change.kind} ${'path' in change ? change.path : 'name' in change ? change.name : ''}`.trim(),
            );
          return result.changed;
        },
        act: async (what, action) => {
          if ((await action()) !== false) changed.push(what);
        },
        progress: () => {},
        warn: (message) => changed.push(`warning: ${message}`),
        wait: async (wait) => {
          const answer = await wait.probe();
          if (!answer.ready) throw new Error(`${wait.for}: ${answer.cause}`);
        },
      };
      try {
        await task(scope);
        await ledger.finish();
      } finally {
        await ledger.close();
      }
      return changed;
    },
    remove: () => rm(root, { recursive: true }),
  };
}
