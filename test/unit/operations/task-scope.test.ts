import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Change } from '../../../src/host/changes/change.ts';
import type { Host } from '../../../src/host/host.ts';
import type { Phase, StepBinding } from '../../../src/operations/operation.ts';
import type { TaskScope } from '../../../src/operations/scope.ts';
import { createTaskScope } from '../../../src/operations/task-scope.ts';
import { pause, record, step } from '../../fakes/operation.ts';

// The scope only hands the host on; nothing here may touch it.
const host = new Proxy<Host>(Object.create(null), {
  get: () => {
    throw new Error('the host was touched');
  },
});
const change: Change = { kind: 'directory', path: '/etc/bke', mode: 0o755 };
const common = { host, scope: 'services', now: () => new Date(), describe: ({ kind }: Change) => `a ${kind}` } as const;

function phaseOf(
  run: (scope: TaskScope) => Promise<void>,
  bind: (binding: StepBinding) => TaskScope,
  timeoutMs = 5000,
): Phase<StepBinding>[] {
  return [
    {
      id: 'p',
      title: 'P',
      chains: [{ host: 'boot', steps: [step('s', async (binding) => run(bind(binding)), timeoutMs)] }],
    },
  ];
}

describe('a task scope', () => {
  it('applies changes through the ledger and tells what changed', async () => {
    const applied: unknown[] = [];
    const answers = [{ changed: true }, { changed: false }, { changed: true, keptAt: '/var/lib/bke-kept/x' }];
    const ledger = {
      apply: async (...args: unknown[]) => {
        applied.push(args);
        return answers[applied.length - 1] ?? { changed: false };
      },
    };
    const got: boolean[] = [];
    const { events, result } = await record(
      phaseOf(
        async (scope) => {
          for (let i = 0; i < 3; i += 1) got.push(await scope.apply(change));
        },
        (binding) => createTaskScope({ ...common, dryRun: false, ledger }, binding),
      ),
    );
    expect(got).toEqual([true, false, true]);
    expect(applied).toEqual([
      ['services', change],
      ['services', change],
      ['services', change],
    ]);
    expect(result.changed).toBe(true);
    expect(events.filter(({ type }) => type === 'step.progress')).toHaveLength(2);
    expect(events.find(({ type }) => type === 'note')).toMatchObject({
      level: 'warning',
      host: 'boot',
      message: 'a directory had been edited by someone; that version is kept in /var/lib/bke-kept/x',
    });
  });

  it('counts an action as a change unless it says that there was nothing to do', async () => {
    const bind = (binding: StepBinding): TaskScope =>
      createTaskScope({ ...common, dryRun: false, ledger: { apply: unexpected } }, binding);
    const nothing = await record(phaseOf(async (scope) => scope.act('push images', async () => false), bind));
    expect(nothing.result.changed).toBe(false);
    const something = await record(phaseOf(async (scope) => scope.act('push images', async () => {}), bind));
    expect(something.result.changed).toBe(true);
    expect(something.events.find(({ type }) => type === 'step.progress')).toMatchObject({ message: 'push images' });
  });

  it('only tells in a dry run: nothing is applied, done or waited for', async () => {
    const observations = [
      { satisfied: false, before: null, action: 'create' },
      { satisfied: true, before: null, action: 'none' },
      { satisfied: false, before: null, action: 'change' },
    ] as const;
    let asked = 0;
    const ledger = {
      observe: async () => {
        asked += 1;
        return observations[asked - 1] ?? observations[1];
      },
    };
    const { events, result } = await record(
      phaseOf(
        async (scope) => {
          expect(scope.dryRun).toBe(true);
          for (let i = 0; i < 3; i += 1) await scope.apply(change);
          await scope.act('push 12 images', unexpected);
          await scope.wait({ for: 'the registry', timeoutMs: 10, probe: unexpected });
        },
        (binding) => createTaskScope({ ...common, dryRun: true, ledger }, binding),
      ),
      { dryRun: true },
    );
    expect(result.outcome).toBe('done');
    const planned = events.flatMap((event) => (event.type === 'step.planned' ? [`${event.action} ${event.what}`] : []));
    expect(planned).toEqual(['create a directory', 'keep a directory', 'change a directory', 'run push 12 images']);
  });

  it('stops between two changes when cancelled', async () => {
    const cancel = new AbortController();
    let applied = 0;
    const ledger = {
      apply: async () => {
        applied += 1;
        cancel.abort();
        return { changed: true };
      },
    };
    const { result } = await record(
      phaseOf(
        async (scope) => {
          for (;;) await scope.apply(change);
        },
        (binding) => createTaskScope({ ...common, dryRun: false, ledger }, binding),
      ),
      { signal: cancel.signal },
    );
    expect(applied).toBe(1);
    expect(result.hosts).toMatchObject([{ state: 'stopped', changed: true }]);
  });
});

async function unexpected(): Promise<never> {
  throw new Error('this must not be called');
}

describe('waiting', () => {
  const bind = (now: () => Date) => (binding: StepBinding) =>
    createTaskScope({ ...common, now, dryRun: false, ledger: { apply: unexpected } }, binding);
  const realNow = (): Date => new Date();

  it('polls until ready and is silent where that does not take long', async () => {
    let probes = 0;
    const probe = async () => {
      probes += 1;
      return probes >= 3 ? ({ ready: true } as const) : ({ ready: false, cause: 'not yet' } as const);
    };
    const { events, result } = await record(
      phaseOf(async (scope) => scope.wait({ for: 'it', timeoutMs: 2000, intervalMs: 1, probe }), bind(realNow)),
    );
    expect(result.outcome).toBe('done');
    expect(probes).toBe(3);
    expect(events.map(({ type }) => type)).not.toContain('step.waiting');
  });

  it('tells causes that take turns every 10 s, not at each turn', async () => {
    let time = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
    onTestFinished(() => clock.mockRestore());
    let probes = 0;
    const probe = async () => {
      probes += 1;
      time += 1000;
      return probes > 30
        ? ({ ready: true } as const)
        : ({ ready: false, cause: probes % 2 === 0 ? 'activating' : 'refused' } as const);
    };
    const { events } = await record(
      phaseOf(async (scope) => scope.wait({ for: 'it', timeoutMs: 60_000, intervalMs: 1, probe }), bind(realNow)),
    );
    const waits = events.flatMap((event) => (event.type === 'step.waiting' ? [event.cause] : []));
    expect(waits.slice(0, 2)).toEqual(['activating', 'refused']);
    expect(waits).toHaveLength(4);
  });

  it('tells the cause after 2 s, when it changes, and every 30 s', async () => {
    // A clock that a probe moves on by 1.1 s.
    let time = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
    onTestFinished(() => clock.mockRestore());
    let probes = 0;
    const probe = async () => {
      probes += 1;
      time += 1100;
      return probes > 70
        ? ({ ready: true } as const)
        : ({ ready: false, cause: probes < 10 ? 'connection refused' : 'not authorized' } as const);
    };
    const wait = { for: 'the registry', timeoutMs: 100_000, intervalMs: 1, next: 'journalctl -u bke-registry', probe };
    const { events } = await record(
      phaseOf(
        async (scope) => scope.wait(wait),
        bind(() => new Date('2026-11-30T10:15:00Z')),
      ),
    );
    const waits = events.flatMap((event) => (event.type === 'step.waiting' ? [event] : []));
    expect(waits.map(({ cause }) => cause)).toEqual([
      'connection refused',
      'not authorized',
      'not authorized',
      'not authorized',
    ]);
    expect(waits[0]).toMatchObject({
      for: 'the registry',
      since: '2026-11-30T10:15:00.000Z',
      next: 'journalctl -u bke-registry',
    });
  });

  it('does not end sooner or later because the clock of the host is set', async () => {
    let wall = Date.parse('2026-11-30T10:15:00Z');
    let probes = 0;
    const probe = async () => {
      probes += 1;
      wall += probes % 2 === 0 ? -7_200_000 : 3_600_000;
      return probes > 20 ? ({ ready: true } as const) : ({ ready: false, cause: 'not yet' } as const);
    };
    const { result } = await record(
      phaseOf(
        async (scope) => scope.wait({ for: 'it', timeoutMs: 5000, intervalMs: 1, probe }),
        bind(() => new Date(wall)),
      ),
    );
    expect([result.outcome, probes]).toEqual(['done', 21]);
    expect(result.durationMs).toBeLessThan(5000);
  });

  it('tells a probe that nobody takes its answer any more, and takes every other', async () => {
    const late = Promise.withResolvers<boolean>();
    const slow = async (over: AbortSignal): Promise<{ ready: true }> => {
      await pause(60);
      late.resolve(over.aborted);
      return { ready: true };
    };
    const hung = await record(
      phaseOf(async (scope) => scope.wait({ for: 'it', timeoutMs: 20, probe: slow }), bind(realNow)),
    );
    expect(hung.result.errors[0]).toMatchObject({ code: 'BKE_TIMEOUT' });
    expect(await late.promise).toBe(true);
    const cancel = new AbortController();
    const fate: string[] = [];
    const justInTime = async (over: AbortSignal): Promise<{ ready: true }> => {
      fate.push(over.aborted ? 'given up' : 'opened');
      queueMicrotask(() => cancel.abort());
      return { ready: true };
    };
    const phases = phaseOf(async (scope) => {
      await scope.wait({ for: 'it', timeoutMs: 1000, probe: justInTime });
      fate.push('taken');
    }, bind(realNow));
    await record(phases, { signal: cancel.signal });
    expect(fate).toEqual(['opened', 'taken']);
  });

  it('ends with the last cause when the time is over, also where the probe hangs', async () => {
    const refused = async () => ({ ready: false, cause: 'connection refused' }) as const;
    const wait = { for: 'the registry to answer', timeoutMs: 30, intervalMs: 5, next: 'journalctl -u bke-registry' };
    const slow = await record(phaseOf(async (scope) => scope.wait({ ...wait, probe: refused }), bind(realNow)));
    expect(slow.result.errors[0]).toMatchObject({
      code: 'BKE_TIMEOUT',
      host: 'boot',
      message: 'waited 0.0s for the registry to answer: connection refused',
      hint: 'Look at: journalctl -u bke-registry',
    });
    const hanging = async (): Promise<{ ready: true }> => pause(3000).then(() => ({ ready: true }));
    const start = Date.now();
    const hung = await record(phaseOf(async (scope) => scope.wait({ ...wait, probe: hanging }), bind(realNow)));
    expect(hung.result.errors[0]).toMatchObject({ code: 'BKE_TIMEOUT' });
    expect(Date.now() - start).toBeLessThan(1000);
  });

  it('is named by the error of a step whose own time ends first', async () => {
    const probe = async () => ({ ready: false, cause: 'connection refused' }) as const;
    const wait = { for: 'the registry to answer', timeoutMs: 60_000, intervalMs: 5, next: 'look', probe };
    const { result } = await record(phaseOf(async (scope) => scope.wait(wait), bind(realNow), 60));
    expect(result.errors[0]).toMatchObject({
      code: 'BKE_TIMEOUT',
      message: "'do s' did not end within 0.1s; it was waiting for the registry to answer: connection refused",
      hint: 'look',
    });
  });

  it('ends at once when cancelled, and throws what the probe throws', async () => {
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 20);
    const probe = async () => ({ ready: false, cause: 'x' }) as const;
    const start = Date.now();
    const phases = phaseOf(
      async (scope) => scope.wait({ for: 'it', timeoutMs: 60_000, intervalMs: 10_000, probe }),
      bind(realNow),
    );
    const { result } = await record(phases, { signal: cancel.signal });
    expect(result.outcome).toBe('cancelled');
    expect(Date.now() - start).toBeLessThan(1000);
    const failing = await record(
      phaseOf(async (scope) => scope.wait({ for: 'it', timeoutMs: 1000, probe: unexpected }), bind(realNow)),
    );
    expect(failing.result.errors[0]).toMatchObject({ message: 'this must not be called' });
  });
});
