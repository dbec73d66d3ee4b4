// What an API server answers when it does not do what it was asked, as errors a user can meet.
import type { ErrorCode } from '../lib/error-table.ts';
import { BkeError } from '../lib/errors.ts';
import { errorField } from '../lib/thrown.ts';
import { printable } from '../lib/text.ts';
import { tryJson } from '../lib/try-json.ts';
import { numberAt, textAt } from './fields.ts';

/** The answer behind a BkeError, for code that decides by it; `cause` of every error below. */
export class KubeStatus extends Error {
  override readonly name = 'KubeStatus';
  /** HTTP status. */
  readonly status: number;
  /** Kubernetes' word, e.g. AlreadyExists; '' where there is none. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** What was asked, for the message: 'get deployments.apps bke/x'. */
export interface Asked {
  readonly what: string;
  readonly status: number;
  /** Of the answer. */
  readonly body: string;
}

/** Letters of an answer that no Kubernetes wrote (a proxy's page) that a message repeats. */
const longestForeign = 300;

export function statusError({ what, status, body }: Asked): BkeError {
  const answer = tryJson(body);
  const foreign = printable(body).trim().slice(0, longestForeign);
  const message = (textAt(answer, 'message') ?? foreign) || `status ${status}`;
  return errorOf(what, new KubeStatus(status, textAt(answer, 'reason') ?? '', message));
}

/** A Status object that came as a line of a watch. */
export function statusOfObject(what: string, object: unknown): BkeError {
  const status = numberAt(object, 'code') ?? 500;
  return errorOf(what, new KubeStatus(status, textAt(object, 'reason') ?? '', textAt(object, 'message') ?? ''));
}

/** The server has no such kind (yet). */
export function noSuchKind(what: string, kind: string): BkeError {
  return errorOf(what, new KubeStatus(404, 'NoSuchKind', `this API server knows no ${kind}`));
}

function errorOf(what: string, cause: KubeStatus): BkeError {
  const code = codeOf(cause);
  return new BkeError(code, `${what}: ${cause.message}`, { cause, hint: hints[code] });
}

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'BKE_KUBE_REFUSED',
  401: 'BKE_KUBE_FORBIDDEN',
  405: 'BKE_KUBE_REFUSED',
  406: 'BKE_KUBE_REFUSED',
  409: 'BKE_KUBE_CONFLICT',
  410: 'BKE_KUBE_EXPIRED',
  413: 'BKE_KUBE_REFUSED',
  415: 'BKE_KUBE_REFUSED',
  422: 'BKE_KUBE_REFUSED',
};

const hints: Readonly<Partial<Record<ErrorCode, string>>> = {
  BKE_KUBE_FORBIDDEN: 'Use an account with that right, or give it to this one by RBAC.',
  BKE_KUBE_CONFLICT: 'Look at the object as it is now and run the same command again.',
};

/** Admission control answers 403 as well: not that the account lacks a right, but that nobody may do this. */
const admission = /denied (the )?request|violates PodSecurity|exceeded quota|is being terminated/;

/** An apply of a field of the wrong type is answered with 500, although trying again is no use. */
const wrongType = /^failed to create typed patch object/;

function codeOf({ status, message }: KubeStatus): ErrorCode {
  if (wrongType.test(message)) return 'BKE_KUBE_REFUSED';
  if (status === 403) return admission.test(message) ? 'BKE_KUBE_REFUSED' : 'BKE_KUBE_FORBIDDEN';
  return codes[status] ?? 'BKE_KUBE_FAILED';
}

/** The answer behind an error of the client; undefined where none came. */
export function kubeStatus(thrown: unknown): KubeStatus | undefined {
  const cause = errorField(thrown, 'cause');
  return cause instanceof KubeStatus ? cause : undefined;
}
