// Errors as a condition tells them: one word for programs, and the code, what happened and what to do for people.
import type { ErrorCode } from '../../lib/error-table.ts';
import { BkeError, toErrorReport } from '../../lib/errors.ts';
import type { Verdict } from '../conditions.ts';

const reasons: { readonly [Code in ErrorCode]?: string } = {
  BKE_SSH_UNREACHABLE: 'Unreachable',
  BKE_SSH_LOST: 'ConnectionLost',
  BKE_SSH_PROTOCOL: 'NoSSHServer',
  BKE_SSH_AUTH: 'LoginRefused',
  BKE_SSH_KEY_INVALID: 'PrivateKeyInvalid',
  BKE_SSH_KEY_PASSPHRASE: 'PassphraseWrong',
  BKE_SSH_HOST_KEYS_INVALID: 'HostKeysInvalid',
  BKE_HOST_KEY_UNKNOWN: 'HostKeyUnknown',
  BKE_HOST_KEY_CHANGED: 'HostKeyChanged',
  BKE_SSH_BASTION: 'BastionRefuses',
  BKE_SSH_SHELL: 'NoShell',
  BKE_SUDO_PASSWORD_NEEDED: 'SudoRefused',
  BKE_SUDO_DENIED: 'SudoRefused',
  BKE_HOST_CREDENTIALS: 'CredentialsMissing',
  BKE_HOST_FACTS: 'ProbeFailed',
  BKE_TIMEOUT: 'TimedOut',
  BKE_DISK_FULL: 'DiskFull',
  BKE_DIGEST_MISMATCH: 'DigestMismatch',
  BKE_ARTIFACT_MISSING: 'ArtifactsMissing',
  BKE_SITE_UNKNOWN: 'SiteUnknown',
  BKE_AGENT_INSTALL: 'AgentNotInstalled',
  BKE_HOST_NOT_CLEANED: 'NotCleaned',
};

/** Nothing but a person changes them; until then trying again costs logins, and may lock an account. */
const lasting: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BKE_SSH_AUTH',
  'BKE_SSH_KEY_INVALID',
  'BKE_SSH_KEY_PASSPHRASE',
  'BKE_SSH_HOST_KEYS_INVALID',
  'BKE_HOST_KEY_UNKNOWN',
  'BKE_HOST_KEY_CHANGED',
  'BKE_SSH_SHELL',
  'BKE_SUDO_PASSWORD_NEEDED',
  'BKE_SUDO_DENIED',
]);

/** About the key of a host, and so about HostKeysKnown too. */
const aboutKeys: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BKE_SSH_HOST_KEYS_INVALID',
  'BKE_HOST_KEY_UNKNOWN',
  'BKE_HOST_KEY_CHANGED',
]);

const longestMessage = 4000;

export function verdictOf(thrown: unknown): Verdict {
  const { code, message, hint, details = [] } = toErrorReport(thrown);
  const words = [`${code}: ${message}`, ...details, ...(hint === undefined ? [] : [hint])];
  return { status: 'False', reason: reasons[code] ?? 'Failed', message: words.join('\n').slice(0, longestMessage) };
}

export function isLasting(thrown: unknown): boolean {
  return thrown instanceof BkeError && isLastingCode(thrown.code);
}

export function isLastingCode(code: ErrorCode): boolean {
  return lasting.has(code);
}

export function isAboutKeys(thrown: unknown): boolean {
  return thrown instanceof BkeError && aboutKeys.has(thrown.code);
}
