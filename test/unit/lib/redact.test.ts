import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellQuote } from '../../../src/lib/quote.ts';
import { createRedactor, redactUrlLogins } from '../../../src/lib/redact.ts';

test('a secret is found as it is, quoted for a shell, in JSON, and line by line', () => {
  const secret = 'it\'s "secret"\\7391';
  const redact = createRedactor([secret, '-----BEGIN KEY-----\nline-one-of-it\nline-two-of-it\n']);
  expect(redact(`a ${secret} b`)).toBe('a [secret] b');
  expect(redact(shellQuote(secret))).toBe("'[secret]'");
  expect(redact(JSON.stringify({ secret }))).toBe('{"secret":"[secret]"}');
  expect(redact('x line-two-of-it y')).toBe('x [secret] y');
});

test('no secret of four letters or more is left, also where one holds another', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 4, maxLength: 12 }), { minLength: 1, maxLength: 4 }),
      fc.string(),
      (secrets, noise) => {
        const text = createRedactor(secrets)(secrets.map((secret) => noise + secret).join(' '));
        for (const secret of secrets)
          if (!'[secret]'.includes(secret) && !noise.includes(secret))
            expect(text.split('[secret]').every((part) => !part.includes(secret))).toBe(true);
      },
    ),
  );
});

test('short ones do not blank out ordinary words', () => {
  expect(createRedactor(['x', ''])('exit code 1')).toBe('exit code 1');
});

test('logins in URLs go', () => {
  expect(redactUrlLogins('http_proxy=http://joe:pa55@proxy:3128 https://a@b/c x@y')).toBe(
    'http_proxy=http://[secret]@proxy:3128 https://[secret]@b/c x@y',
  );
});
