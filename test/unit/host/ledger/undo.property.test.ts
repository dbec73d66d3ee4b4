// Whatever is applied, in whatever order, by however many runs: undone, the host is byte for byte what it was.
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import type { Change, Scope, UndoOutcome } from '../../../../src/host/changes/change.ts';
import { kindOf } from '../../../../src/host/changes/kinds.ts';
import { openLedger } from '../../../../src/host/ledger/ledger.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { FakeCrash, FakeHost } from '../../../fakes/fake-host.ts';
import { type Snapshot, snapshot } from '../../../fakes/snapshot.ts';
import { beforeArbitrary, changeArbitrary, put } from './change-lists.ts';

/** `npm run test:soak` tries twenty times as many. */
const soak = process.env['BKE_SOAK'] === undefined ? 1 : 20;
const limit = { timeout: 120_000 * soak };

const hosts: FakeHost[] = [];

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.dispose();
});

async function makeHost(): Promise<FakeHost> {
  const host = await FakeHost.make();
  hosts.push(host);
  return host;
}

async function disposeAll(): Promise<void> {
  for (const host of hosts.splice(0)) await host.dispose();
}

const timeless = ['/proc', '/etc/passwd', '/etc/group', '/etc/shadow', '/etc/gshadow'];

function look(host: FakeHost): Promise<Snapshot> {
  return snapshot(host.root, { timeless, without: ['/var/lib/bke', '/var/lib/bke-kept'] });
}

/** Refusals are answers, not faults: something else is in the way. */
async function applyAll(host: FakeHost, changes: readonly Change[], scope: Scope = 'services'): Promise<boolean> {
  const ledger = await openLedger(host, { operation: 'op-apply', command: 'bke init' });
  let changed = false;
  for (const change of changes) {
    try {
      changed = (await ledger.apply(scope, change)).changed || changed;
    } catch (thrown) {
      if (!(thrown instanceof BkeError)) throw thrown;
      expect(['BKE_PATH_IN_THE_WAY', 'BKE_SYSTEM']).toContain(thrown.code);
    }
  }
  await ledger.finish();
  await ledger.close();
  return changed;
}

async function undoAll(host: FakeHost): Promise<Map<string, UndoOutcome>> {
  const ledger = await openLedger(host, { operation: 'op-undo', command: 'bke reset' });
  const outcomes = new Map<string, UndoOutcome>();
  for (const resource of ledger.resources()) outcomes.set(resource.key, await ledger.undo(resource));
  expect(ledger.resources().filter((resource) => outcomes.get(resource.key)?.result !== 'left')).toEqual([]);
  await ledger.finish();
  await ledger.close();
  return outcomes;
}

const changesArbitrary = fc.array(changeArbitrary, { minLength: 1, maxLength: 14 });

test('applied and undone, a host is what it was, and no unit or process of ours is left', limit, async () => {
  await fc.assert(
    fc.asyncProperty(beforeArbitrary, changesArbitrary, async (before, changes) => {
      const host = await makeHost();
      await put(host, before);
      const was = await look(host);
      await applyAll(host, changes);
      const outcomes = await undoAll(host);
      expect([...outcomes.values()].filter(({ result }) => result === 'left' || result === 'kept')).toEqual([]);
      expect(await look(host)).toEqual(was);
      expect([...host.system.units.values()].filter((unit) => unit.active !== 'inactive')).toEqual([]);
      await disposeAll();
    }),
    { numRuns: 30 * soak },
  );
});

test(
  'applied a second time nothing changes and the ledger does not grow; undone and applied again it still comes back',
  limit,
  async () => {
    await fc.assert(
      fc.asyncProperty(beforeArbitrary, changesArbitrary, async (before, changes) => {
        const host = await makeHost();
        await put(host, before);
        const was = await look(host);
        await applyAll(host, changes);
        // Of several versions of one thing only the last is so in the end.
        const last = [...new Map(changes.map((change) => [kindOf(change).key(change), change])).values()];
        await applyAll(host, last);
        const ledger = await host.files.read('/var/lib/bke/ledger/ledger.jsonl');
        const state = await look(host);
        expect(await applyAll(host, last)).toBe(false);
        expect(await host.files.read('/var/lib/bke/ledger/ledger.jsonl')).toEqual(ledger);
        expect(await look(host)).toEqual(state);
        await undoAll(host);
        expect(await look(host)).toEqual(was);
        await applyAll(host, changes);
        await undoAll(host);
        expect(await look(host)).toEqual(was);
        await disposeAll();
      }),
      { numRuns: 15 * soak },
    );
  },
);

test(
  'killed at a random effect while it applies or undoes, the next reset still brings the host back',
  limit,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        beforeArbitrary,
        changesArbitrary,
        fc.array(fc.tuple(fc.constantFrom('apply', 'undo'), fc.integer({ min: 1, max: 120 })), {
          minLength: 1,
          maxLength: 4,
        }),
        async (before, changes, deaths) => {
          const host = await makeHost();
          await put(host, before);
          const was = await look(host);
          for (const [what, dieAt] of deaths) {
            await host.revive(dieAt);
            try {
              await (what === 'apply' ? applyAll(host, changes) : undoAll(host));
            } catch (thrown) {
              if (!(thrown instanceof FakeCrash)) throw thrown;
            }
          }
          await host.revive();
          const outcomes = await undoAll(host);
          expect([...outcomes.values()].filter(({ result }) => result === 'left' || result === 'kept')).toEqual([]);
          expect(await look(host)).toEqual(was);
          await disposeAll();
        },
      ),
      { numRuns: 30 * soak },
    );
  },
);

async function checkKept(host: FakeHost, { result, keptAt = '' }: UndoOutcome): Promise<void> {
  expect(result).toBe('kept');
  expect((await host.files.read(keptAt))?.toString()).toMatch(/edited by hand$/);
  expect(dirname(keptAt)).toMatch(/^\/var\/lib\/bke-kept\/\d{8}T\d{6}Z-op-undo\//);
}

test('what others edit or add meanwhile survives: kept, reported or left where it is', limit, async () => {
  await fc.assert(
    fc.asyncProperty(beforeArbitrary, changesArbitrary, fc.nat(), async (before, changes, pick) => {
      const host = await makeHost();
      await put(host, before);
      await applyAll(host, changes);
      const files = changes.filter((change) => change.kind === 'file');
      const edited = files[pick % Math.max(1, files.length)];
      await appendFile(host.at('/etc/hosts'), '10.9.9.9 theirs\n');
      await mkdir(host.at('/opt/theirs'), { recursive: true });
      await writeFile(host.at('/opt/theirs/canary'), 'canary');
      const isThere = edited !== undefined && (await host.files.stat(edited.path))?.type === 'file';
      if (isThere) await appendFile(host.at(edited.path), 'edited by hand');
      const outcomes = await undoAll(host);
      expect((await host.files.read('/etc/hosts'))?.toString()).toContain('10.9.9.9 theirs\n');
      expect((await host.files.read('/opt/theirs/canary'))?.toString()).toBe('canary');
      const outcome = outcomes.get(`file:${edited?.path}`);
      if (isThere && outcome !== undefined) await checkKept(host, outcome);
      await disposeAll();
    }),
    { numRuns: 30 * soak },
  );
});
