// A host that somebody reset is not taken again behind that person's back; one whose agent died is healed.
import { describe, expect, it } from 'vitest';
import { annotations, viewOf, type HostView } from '../../../../src/controllers/bkehost/host.ts';
import type { HostMemory } from '../../../../src/controllers/bkehost/memory.ts';
import { isHeldAsReset, noteAsked, resetVerdict } from '../../../../src/controllers/bkehost/was-reset.ts';

const lost = { state: 'lost', lastSeen: '2026-11-30T10:00:00.000000Z', silentMs: 130_000 } as const;
type Own = Parameters<typeof isHeldAsReset>[1];
const bare: Own = { own: { units: [], pids: [] } };
const died: Own = { own: { units: ['bke-agent', 'kubelet'], pids: [] } };
const claim = { consumerRef: { namespace: 'bke', name: 'm1' }, claimID: 'c1' };

function view(spec: object = {}, { asked, reason }: { asked?: string; reason?: string } = {}): HostView {
  return viewOf({
    apiVersion: 'bke.io/v1alpha1',
    kind: 'BKEHost',
    metadata: {
      name: 'w1',
      namespace: 'bke',
      annotations: asked === undefined ? {} : { [annotations.asked]: asked },
    },
    spec: { address: '10.0.0.21', roles: ['worker'], ...spec },
    ...(reason === undefined
      ? {}
      : { status: { conditions: [{ type: 'AgentReady', status: 'False', reason, message: '' }] } }),
  });
}

function held(host: HostView, memory: HostMemory = {}, facts = bare): boolean {
  return isHeldAsReset(host, facts, { heartbeat: lost, memory });
}

describe('a host whose agent is silent', () => {
  it('is taken again where the agent is still installed: it died, or the host starts anew', () => {
    expect(held(view(claim), {}, died)).toBe(false);
    expect(held(view(), {}, died)).toBe(false);
  });

  it('is not where nothing of the agent is there any more, be it free or claimed', () => {
    expect(held(view())).toBe(true);
    expect(held(view(claim))).toBe(true);
  });

  it('is where no agent was ever heard: it is being enrolled', () => {
    expect(isHeldAsReset(view(), bare, { heartbeat: { state: 'none' }, memory: {} })).toBe(false);
  });

  it('is when somebody asks for it anew, and not by the wish of before', () => {
    const memory = { heardFor: { asked: 'create-1' } };
    expect(held(view({}, { asked: 'create-1' }), memory)).toBe(true);
    expect(held(view({}, { asked: 'create-2' }), memory)).toBe(false);
    expect(held(view({}, { asked: 'create-1' }))).toBe(true);
  });

  it('is not by a wish that came while its agent was well, be it looked at for that or not', () => {
    const memory: HostMemory = { lookedAt: 1, lookedFor: 'create-1' };
    const asked = view({}, { asked: 'create-2' });
    noteAsked(view({}, { asked: 'create-1' }).object, { state: 'fresh' }, memory);
    noteAsked(asked.object, { state: 'fresh' }, memory);
    noteAsked(asked.object, lost, memory);
    expect(held(asked, memory)).toBe(true);
    expect(held(view({}, { asked: 'create-3' }), memory)).toBe(false);
  });

  it('is by the first wish that a controller sees after it found the host silent', () => {
    const memory: HostMemory = {};
    noteAsked(view({}, { asked: 'create-1' }).object, { state: 'unproven' }, memory);
    noteAsked(view({}, { asked: 'create-2' }).object, lost, memory);
    expect(held(view({}, { asked: 'create-2' }), memory)).toBe(false);
  });

  it('is for a machine that goes and waits for it to be cleaned, and for none that stays', () => {
    expect(held(view({ ...claim, cleanUpPending: true }))).toBe(false);
    expect(held(view(claim, { asked: 'create-2' }), { heardFor: { asked: 'create-1' } })).toBe(true);
  });
});

describe('what AgentReady says of it', () => {
  it('is who did it and the ways out, for a free host and for a claimed one', () => {
    const free = resetVerdict(view(), { wasReset: true }, lost);
    expect(free).toMatchObject({ status: 'False', reason: 'HostReset' });
    expect(free?.message).toContain('kubectl -n bke delete lease agent-w1');
    expect(resetVerdict(view(claim), { wasReset: true }, lost)?.message).toContain('bke/m1 still has it');
  });

  it('outlives the controller, and ends with a heartbeat or without one that was ever there', () => {
    const told = view({}, { reason: 'HostReset' });
    expect(resetVerdict(told, {}, lost)?.reason).toBe('HostReset');
    expect(resetVerdict(told, {}, { state: 'unproven' })?.reason).toBe('HostReset');
    expect(resetVerdict(told, { wasReset: false }, lost)).toBeUndefined();
    expect(resetVerdict(told, {}, { state: 'fresh' })).toBeUndefined();
    expect(resetVerdict(told, {}, { state: 'none' })).toBeUndefined();
  });
});
