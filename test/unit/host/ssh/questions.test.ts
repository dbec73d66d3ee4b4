import { describe, expect, test } from 'vitest';
import { asksNewPassword, asksPassword, questionsOf } from '../../../../src/host/ssh/questions.ts';

function asked(prompt: string, echo = false): boolean {
  return asksPassword(questionsOf([{ prompt, echo }]));
}

describe('a password prompt', () => {
  test.each([
    'Password: ',
    "root@10.0.0.5's password: ",
    'Passwort: ',
    '密码：',
    'LDAP Password:',
    '(code@token) Password: ',
    'Пароль: ',
  ])('%j gets the password', (prompt) => expect(asked(prompt)).toBe(true));

  test.each([
    'Verification code: ',
    'One-time password (OATH) for `root`: ',
    'Enter your OTP:',
    'Passcode or option (1-3): ',
    'PIN + Token:',
    '请输入动态验证码：',
    'New password: ',
    'Current password: ',
    'Retype new password: ',
    'challenge 4711, response:',
  ])('%j does not', (prompt) => expect(asked(prompt)).toBe(false));

  test('is a single one, whose answer is hidden', () => {
    const password = { prompt: 'Password: ', echo: false };
    expect(asksPassword(questionsOf([{ prompt: 'Name: ', echo: true }]))).toBe(false);
    expect(asksPassword(questionsOf([password, password]))).toBe(false);
    expect(asksPassword([])).toBe(false);
  });
});

test('a new password is told from a second factor', () => {
  expect(asksNewPassword(questionsOf([{ prompt: '(root@h) New password: ', echo: false }]))).toBe(true);
  expect(asksNewPassword(questionsOf([{ prompt: 'Verification code: ', echo: false }]))).toBe(false);
});
