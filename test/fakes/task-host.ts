// A fake host with a task's scope on it: the real ledger, the real changes and the real scope; only the machine below them is a directory.
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Change } from '../../src/host/changes/change.ts';
import { kindOf } from '../../src/host/changes/kinds.ts';
import type { Host } from '../../src/host/host.ts';
import { openLedger } from '../../src/host/ledger/ledger.ts';
import type { StepBinding } from '../../src/operations/operation.ts';
import { createTaskScope } from '../../src/operations/task-scope.ts';
import type { TaskScope } from '../../src/tasks/task.ts';
import { FakeHost } from './fake-host.ts';

export interface TaskHost {
  readonly root: string;
  readonly host: Host;
  /** What its programs answer. */
  readonly system: FakeHost['system'];
  /** Where a path of the host really is. */
  at(path: string): string;
  text(path: string): Promise<string>;
  /** Writes a file and the folders above it. */
  put(path: string, content: string): Promise<void>;
  /** What systemctl was told to change since the last time this was asked: `restart bke-registry.service` and the like, in order. */
  systemctlCalls(): string[];
  /** Runs a task with a ledger of its own run; returns what it changed, as `file /etc/hosts`. */
  run(task: (scope: TaskScope) => Promise<void>): Promise<string[]>;
  remove(): Promise<void>;
}

function nameOf(change: Change): string {
  const name = 'path' in change ? change.path : 'name' in change ? change.name : '';
  return `${change.kind} ${name}`.trim();
}

/** Has the services' user already, and a crictl whose containerd answers. */
export async function taskHost(): Promise<TaskHost> {
  const host = await FakeHost.make();
  await appendFile(host.at('/etc/passwd'), 'bke:x:990:990::/:/usr/sbin/nologin\n');
  await appendFile(host.at('/etc/group'), 'bke:x:990:\n');
  host.system.others.set('crictl', { exitCode: 0, stdout: '', stderr: '' });
  const now = (): Date => new Date();
  const describe = (change: Change): string => kindOf(change).describe(change);
  return {
    root: host.root,
    host,
    system: host.system,
    at: (path) => host.at(path),
    text: (path) => readFile(host.at(path), 'utf8'),
    put: async (path, content) => {
      const place = host.at(path);
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, content);
    },
    systemctlCalls: () => {
      const calls = host.system.calls.splice(0).filter(([program]) => program === 'systemctl');
      return calls
        .map((words) => words.slice(1).filter((word) => word !== '--' && word !== '--quiet'))
        .filter(([verb]) => verb !== 'show')
        .map((words) => words.join(' '));
    },
    run: async (task) => {
      const changed: string[] = [];
      const ledger = await openLedger(host, { operation: 'test', command: 'test' });
      const binding: StepBinding = {
        place: { phase: 'test', step: 'test' },
        dryRun: false,
        signal: new AbortController().signal,
        emit: (body) => {
          if (body.type === 'note') changed.push(`${body.level}: ${body.message}`);
        },
        changed: () => undefined,
        waitsFor: () => undefined,
      };
      const recording: Pick<typeof ledger, 'apply'> = {
        apply: async (scope, change) => {
          const result = await ledger.apply(scope, change);
          if (result.changed) changed.push(nameOf(change));
          return result;
        },
      };
      try {
        await task(
          createTaskScope({ host, scope: 'services', now, describe, dryRun: false, ledger: recording }, binding),
        );
        await ledger.finish();
      } finally {
        await ledger.close();
      }
      return changed;
    },
    remove: () => host.dispose(),
  };
}
