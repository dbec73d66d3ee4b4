// What a server asks in keyboard-interactive (RFC 4256): a password prompt gets the password, once; anything else is a question for a person.
import type { Prompt } from 'ssh2';

export interface Question {
  readonly prompt: string;
  /** The answer would be shown while it is typed, so it is no password. */
  readonly echo: boolean;
}

/** OpenSSH puts `(user@host) ` before the prompt of PAM; a name there must not decide what is asked for. */
const origin = /^\(\S+@\S+\) /;
/** Words of second factors; where none of them stands, a hidden single prompt is for the password, in whatever language. */
const secondFactor =
  /\b(?:verification|code|passcode|otp|totp|one[- ]?time|token|tokencode|pin|factor|2fa|mfa|challenge|response|duo|yubikey)\b|验证码|动态|令牌|一次性/i;
const newPassword = /\b(?:new|current)\b.*password|retype|(?:新|当前).*(?:密码|口令)/i;

/** false: it needs somebody who reads it. */
export function asksPassword(questions: readonly Question[]): boolean {
  const [only] = questions;
  if (only === undefined || questions.length > 1 || only.echo) return false;
  const text = only.prompt.replace(origin, '');
  return !secondFactor.test(text) && !newPassword.test(text);
}

export function asksNewPassword(questions: readonly Question[]): boolean {
  return questions.some(({ prompt }) => newPassword.test(prompt));
}

export function questionsOf(prompts: readonly Prompt[]): Question[] {
  return prompts.map(({ prompt, echo }) => ({ prompt: prompt.replace(origin, '').trim(), echo: echo === true }));
}
