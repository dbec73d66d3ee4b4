// When a person is told that the certificate of the local services ends.
import { expect, it } from 'vitest';
import { createCaCertificate, generateKey, issueServingCertificate, notAfter } from '../../../../src/lib/x509.ts';
import { certificateLine } from '../../../../src/tasks/services/certificate-end.ts';

const made = new Date('2026-01-01T00:00:00Z');
const key = generateKey();
const ca = { key, certificate: await createCaCertificate(key, { commonName: 'site', now: made, days: 3650 }) };
const leaf = await issueServingCertificate(ca, { commonName: 'x', names: ['x'], now: made, days: 730 });
const end = notAfter(leaf.certificate) ?? new Date(0);

it.each([
  ['2026-01-01', undefined],
  ['2027-07-04', undefined],
  ['2027-07-06', 'ends on 2028-01-01'],
  ['2027-12-31', 'ends on 2028-01-01'],
  ['2028-02-01', 'ended on 2028-01-01: no host accepts it any more'],
])('on %s: %s', (day, words) => {
  const line = certificateLine(end, new Date(`${day}T00:00:00Z`));
  if (words === undefined) expect(line).toBeUndefined();
  else expect(line).toContain(words);
});
