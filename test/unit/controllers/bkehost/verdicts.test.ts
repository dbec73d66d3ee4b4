// What a BKEHost's conditions say in each case.
import { describe, expect, it } from 'vitest';
import type { BKEHostSpec } from '../../../../src/api/kinds/bke-host.ts';
import { no, unknown, yes } from '../../../../src/controllers/conditions.ts';
import { type Known, verdictsOf } from '../../../../src/controllers/bkehost/verdicts.ts';
import { BkeError } from '../../../../src/lib/errors.ts';

const ssh = { user: 'root', port: 22, hostKeys: ['SHA256:x'], secretRef: { name: 'h1-ssh' }, retain: true };
const spec: BKEHostSpec = { address: '10.0.0.11', roles: ['worker'], ssh };
const passed = { preflight: yes('ChecksPassed'), clean: yes('Clean') };
const fresh = { state: 'fresh', version: '0.1.0', lastSeen: '2026-11-30T10:00:00.000000Z' } as const;

function known(parts: Partial<Known> = {}): Known {
  return {
    namespace: 'bke',
    name: 'h1',
    spec,
    deleting: false,
    heartbeat: { state: 'none' },
    job: undefined,
    reached: undefined,
    assessment: undefined,
    before: {},
    ...parts,
  };
}

function failed(error: BkeError): Known['job'] {
  return { name: 'enrol', inputs: '', failure: { thrown: error, attempts: 1, againAt: 0, doing: '' } };
}

/** `Available` in short. */
function available(parts: Partial<Known>): string {
  const { status, reason } = verdictsOf(known(parts)).Available;
  return `${status} ${reason}`;
}

describe('Available', () => {
  it('is true for a host that passed all and whose agent is there', () => {
    expect(available({ heartbeat: fresh, assessment: passed })).toBe('True Available');
  });

  it.each<[string, Partial<Known>]>([
    ['False NotEnrolled', {}],
    ['False Enrolling', { job: { name: 'enrol', inputs: '', doing: 'looking at the host' } }],
    ['False HostKeyUnknown', { spec: { ...spec, ssh: { ...ssh, hostKeys: [] } } }],
    ['False ChecksFailed', { heartbeat: fresh, assessment: { ...passed, preflight: no('ChecksFailed', 'cpu') } }],
    ['False Leftovers', { heartbeat: fresh, assessment: { ...passed, clean: no('Leftovers', 'kubelet') } }],
    ['False HeartbeatLost', { heartbeat: { ...fresh, state: 'lost' }, assessment: passed }],
    ['Unknown NotChecked', { heartbeat: fresh }],
    ['Unknown TooEarly', { heartbeat: { ...fresh, state: 'unproven' }, assessment: passed }],
    ['False CarriesServices', { heartbeat: fresh, assessment: passed, spec: { ...spec, services: true } }],
    ['False CleanUpPending', { heartbeat: fresh, assessment: passed, spec: { ...spec, cleanUpPending: true } }],
    ['False Deleting', { heartbeat: fresh, assessment: passed, deleting: true }],
  ])('is %s', (words, parts) => {
    expect(available(parts)).toBe(words);
  });

  it('is false for a host that a machine has, that is in quarantine or in maintenance', () => {
    const since = '2026-11-30T10:00:00Z';
    const of = (more: Partial<BKEHostSpec>): string =>
      available({ heartbeat: fresh, assessment: passed, spec: { ...spec, ...more } });
    expect(of({ consumerRef: { namespace: 'bke', name: 'm1' }, claimID: 'c1' })).toBe('False Claimed');
    expect(of({ quarantine: { reason: 'not clean', since } })).toBe('False Quarantined');
    expect(of({ maintenance: { reason: 'new disk', since } })).toBe('False Maintenance');
    expect(
      verdictsOf(known({ spec: { ...spec, quarantine: { reason: 'not clean', since } } })).Clean.message,
    ).toContain('kubectl -n bke patch bkehost h1 ');
  });

  it('does not ask for a login where the agent answers', () => {
    const keyless = { ...spec, ssh: { ...ssh, hostKeys: [] } };
    expect(available({ heartbeat: fresh, assessment: passed, spec: keyless })).toBe('True Available');
    expect(available({ heartbeat: fresh, assessment: passed, spec: { address: '10.0.0.11', roles: ['worker'] } })).toBe(
      'True Available',
    );
  });
});

it('tells a failed login with code, reason and hint, where the login failed', () => {
  const error = new BkeError('BKE_SSH_AUTH', 'root may not log in', {
    hint: 'Check the key.',
    details: ['offered: publickey'],
  });
  const { Reachable, AgentReady, HostKeysKnown } = verdictsOf(known({ job: failed(error), reached: false }));
  expect(Reachable).toEqual(
    no('LoginRefused', 'BKE_SSH_AUTH: root may not log in\noffered: publickey\nCheck the key.'),
  );
  expect(AgentReady.reason).toBe('NotEnrolled');
  expect(HostKeysKnown).toEqual(yes('Known'));
});

it('tells what failed after the login about the agent', () => {
  const error = new BkeError('BKE_ARTIFACT_MISSING', 'no bke for arm64');
  const { Reachable, AgentReady } = verdictsOf(known({ job: failed(error), reached: true }));
  expect(Reachable).toEqual(yes('LoggedIn'));
  expect(AgentReady).toEqual(no('ArtifactsMissing', 'BKE_ARTIFACT_MISSING: no bke for arm64'));
});

it('tells another host key as what it is', () => {
  const error = new BkeError('BKE_HOST_KEY_CHANGED', 'it shows another key');
  expect(verdictsOf(known({ job: failed(error), reached: false })).HostKeysKnown.reason).toBe('HostKeyChanged');
});

it('keeps what was said of a login while it is tried again', () => {
  const before = { Reachable: no('Unreachable', 'no answer') };
  const job = { name: 'enrol', inputs: '', doing: 'logging in as root' };
  expect(verdictsOf(known({ before, job, reached: false })).Reachable).toEqual(before.Reachable);
});

it('takes nothing back because the controller began anew', () => {
  const before = { Reachable: yes('AgentAnswers'), AgentReady: yes('Heartbeat'), Preflight: yes('ChecksPassed') };
  const heartbeat = { ...fresh, state: 'unproven' } as const;
  const { Available, Reachable } = verdictsOf(known({ before, heartbeat }));
  expect(Available).toEqual(yes('Available'));
  expect(Reachable).toEqual(before.Reachable);
});

it('says of a silent host that it is silent, while its login is tried', () => {
  const before = { Reachable: yes('AgentAnswers') };
  const job = { name: 'enrol', inputs: '', doing: 'logging in as root' };
  const heartbeat = { ...fresh, state: 'lost' } as const;
  const { Reachable, AgentReady } = verdictsOf(known({ before, job, heartbeat, reached: false }));
  expect(AgentReady.reason).toBe('HeartbeatLost');
  expect(Reachable.status).toBe('Unknown');
  expect(verdictsOf(known({ job, heartbeat, reached: true })).AgentReady.reason).toBe('Enrolling');
});

it('does not call a host clean that nobody looked at', () => {
  expect(verdictsOf(known()).Clean.status).toBe('Unknown');
});

it('does not hold a host in use to checks that are meant for a bare one', () => {
  const claimed = { ...spec, consumerRef: { namespace: 'bke', name: 'm1' }, claimID: 'c1' };
  const assessment = { preflight: no('ChecksFailed', 'ports: 10250 is taken'), clean: no('Leftovers', 'kubelet') };
  const before = { Preflight: yes('ChecksPassed') };
  const { Preflight, Clean } = verdictsOf(known({ spec: claimed, heartbeat: fresh, assessment, before }));
  expect(Preflight).toEqual(before.Preflight);
  expect(Clean).toEqual(unknown('Claimed', 'a machine has the host'));
});
