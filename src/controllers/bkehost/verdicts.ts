// What a BKEHost's conditions say, out of what is known about it: pure, so that each case can be shown by a test.
import { heartbeatSeconds } from '../../api/agent-config.ts';
import type { BKEHostSpec } from '../../api/kinds/bke-host.ts';
import type { Assessment } from './needs.ts';
import { no, unknown, type Verdict, yes } from '../conditions.ts';
import type { Verdicts } from './conditions.ts';
import type { Heartbeat } from './heartbeats.ts';
import type { JobState } from './jobs.ts';
import { withoutKeys } from './login.ts';
import { isAboutKeys, verdictOf } from './reasons.ts';

export interface Known {
  readonly namespace: string;
  readonly name: string;
  readonly spec: BKEHostSpec;
  readonly deleting: boolean;
  /** Why a host that is being deleted is still there. */
  readonly leavingMessage?: string | undefined;
  readonly heartbeat: Heartbeat;
  readonly job: JobState | undefined;
  /** Of the last job: whether the login worked. undefined: none was tried by this process. */
  readonly reached: boolean | undefined;
  /** Of a host whose agent somebody took off it. */
  readonly reset?: Verdict | undefined;
  /** undefined: nothing is known of what the host is. */
  readonly assessment: Assessment | undefined;
  /** What the object says so far. */
  readonly before: { readonly [Type in 'Reachable' | 'AgentReady' | 'Preflight' | 'Clean']?: Verdict | undefined };
}

export function verdictsOf(known: Known): Verdicts {
  const parts = {
    HostKeysKnown: hostKeys(known),
    Reachable: reachable(known),
    AgentReady: agentReady(known),
    Preflight: preflight(known),
    Clean: clean(known),
  };
  return { ...parts, Available: available(known, parts) };
}

function hostKeys({ spec, job }: Known): Verdict {
  if (spec.ssh === undefined) return unknown('NoSSH', 'spec.ssh is not set: the host is not dialled');
  const missing = withoutKeys(spec);
  if (missing.length > 0) {
    return no(
      'HostKeyUnknown',
      `BKE_HOST_KEY_UNKNOWN: no host key is known of ${missing.join(', ')}, so it is not dialled. Put what ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub prints on the host into hostKeys: SHA256:…`,
    );
  }
  const thrown = job?.failure?.thrown;
  if (thrown !== undefined && isAboutKeys(thrown)) return verdictOf(thrown);
  return yes('Known');
}

function reachable({ spec, heartbeat, job, reached, before }: Known): Verdict {
  if (heartbeat.state === 'fresh') return yes('AgentAnswers');
  if (reached === true) return yes('LoggedIn');
  if (job?.failure !== undefined && reached === false) return verdictOf(job.failure.thrown);
  return toldBefore(before.Reachable, heartbeat) ?? notDialled(spec) ?? unknown('NotTried', 'no login was tried yet');
}

/** An agent that is silent answers no more; of one that was not heard yet, nothing is taken back. */
function toldBefore(before: Verdict | undefined, { state }: Heartbeat): Verdict | undefined {
  if (before?.reason === 'AgentAnswers') return state === 'unproven' ? before : undefined;
  return before?.reason === 'NotTried' ? undefined : before;
}

function notDialled(spec: BKEHostSpec): Verdict | undefined {
  if (spec.ssh?.secretRef === undefined) {
    return unknown('NotTried', 'spec.ssh.secretRef is not set: there is nothing to log in with');
  }
  if (withoutKeys(spec).length === 0) return undefined;
  return unknown('NotTried', 'it is not dialled before its host key is known');
}

function agentReady({ heartbeat, job, before, reached, reset, assessment }: Known): Verdict {
  if (heartbeat.state === 'fresh') return yes('Heartbeat');
  if (reset !== undefined) return reset;
  // A controller that has just begun does not take back what was so.
  if (heartbeat.state === 'unproven' && before.AgentReady?.status === 'True') return before.AgentReady;
  return (
    enrolment({ job, reached, heartbeat }) ?? (heartbeat.state === 'none' ? notEnrolled(assessment) : silent(heartbeat))
  );
}

/** A login that failed is told of by Reachable. */
function enrolment({ job, reached, heartbeat }: Pick<Known, 'job' | 'reached' | 'heartbeat'>): Verdict | undefined {
  if (job?.failure !== undefined && reached === true) return verdictOf(job.failure.thrown);
  // Of a host whose agent is silent, that says more than that its login is tried.
  if (job?.doing === undefined || (heartbeat.state === 'lost' && reached !== true)) return undefined;
  return no('Enrolling', job.doing);
}

function silent({ state, lastSeen = '' }: Heartbeat): Verdict {
  const last = `the last heartbeat was at ${lastSeen} by the host's clock`;
  if (state === 'unproven') return unknown('TooEarly', last);
  const hint = 'Is the host on, does it reach the API server? There: journalctl -u bke-agent';
  return no('HeartbeatLost', `none came for more than ${heartbeatSeconds.valid} s; ${last}. ${hint}`);
}

function notEnrolled(assessment: Assessment | undefined): Verdict {
  const held = [assessment?.preflight, assessment?.clean].find((verdict) => verdict?.status === 'False');
  if (held !== undefined) return no('NotEnrolled', 'nothing is changed on the host before its checks pass');
  return no('NotEnrolled', 'its agent was not installed yet');
}

function preflight({ spec, assessment, before }: Known): Verdict {
  // What runs on a host in use would fail checks that are meant for a bare one.
  if (spec.consumerRef !== undefined && before.Preflight !== undefined) return before.Preflight;
  return assessment?.preflight ?? before.Preflight ?? unknown('NotChecked', 'the host was not looked at yet');
}

function clean(known: Known): Verdict {
  const { assessment, before } = known;
  const unclean = uncleanBySpec(known);
  if (unclean !== undefined) return unclean;
  const told = before.Clean?.reason === 'Clean' || before.Clean?.reason === 'Leftovers' ? before.Clean : undefined;
  return assessment?.clean ?? told ?? unknown('NotChecked', 'the host was not looked at yet');
}

function uncleanBySpec({ namespace, name, spec }: Known): Verdict | undefined {
  const { quarantine, cleanUpPending, consumerRef } = spec;
  if (quarantine !== undefined) {
    const way = `kubectl -n ${namespace} patch bkehost ${name} --type=json -p '[{"op":"remove","path":"/spec/quarantine"}]'`;
    return no('Quarantined', `since ${quarantine.since}: ${quarantine.reason}. When it is clean: ${way}`);
  }
  if (cleanUpPending === true) return no('CleanUpPending', 'what a cluster left is not proven to be gone');
  return consumerRef === undefined ? undefined : unknown('Claimed', 'a machine has the host');
}

/** The first thing that speaks against it. With an agent that answers, nobody has to log in any more. */
function available(known: Known, parts: Omit<Verdicts, 'Available'>): Verdict {
  if (known.deleting) return no('Deleting', known.leavingMessage ?? 'the host is going');
  const login = known.heartbeat.state === 'fresh' ? [] : [parts.HostKeysKnown, parts.Reachable];
  const held = [...login, parts.AgentReady, parts.Preflight, parts.Clean].find(({ status }) => status === 'False');
  if (held !== undefined) return held;
  if (parts.AgentReady.status === 'Unknown') return parts.AgentReady;
  const taken = takenBy(known.spec);
  if (taken !== undefined) return taken;
  return parts.Preflight.status === 'Unknown' ? parts.Preflight : yes('Available');
}

function takenBy({ services, maintenance, consumerRef }: BKEHostSpec): Verdict | undefined {
  if (services === true) return no('CarriesServices', 'it carries the local services and is never claimed');
  if (maintenance !== undefined) return no('Maintenance', maintenance.reason);
  if (consumerRef === undefined) return undefined;
  return no('Claimed', `${consumerRef.namespace}/${consumerRef.name} has it`);
}
