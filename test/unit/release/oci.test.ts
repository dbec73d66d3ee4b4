import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Digest } from '../../../src/lib/digest.ts';
import { localRepository, manifestReference, parseReference } from '../../../src/release/oci/reference.ts';
import { parseChallenge } from '../../../src/release/oci/registry-auth.ts';
import { refusalError } from '../../../src/release/oci/registry-errors.ts';
import { answerFor, parseRange } from '../../../src/release/repository/http-file.ts';

const digest: Digest = `sha256:${'0'.repeat(64)}`;

describe('an image name', () => {
  it.each([
    ['docker.io/library/nginx:1.29', ['docker.io', 'library/nginx', '1.29'], 'docker.io/library/nginx'],
    ['registry.k8s.io/pause:3.10', ['registry.k8s.io', 'pause', '3.10'], 'registry.k8s.io/pause'],
    ['localhost:5000/a/b__c:x', ['localhost:5000', 'a/b__c', 'x'], 'localhost_5000/a/b__c'],
    ['[fd00::10]:5000/a:x', ['[fd00::10]:5000', 'a', 'x'], 'fd00__10_5000/a'],
    [`REG.local/a@${digest}`, ['REG.local', 'a', undefined], 'reg.local/a'],
  ])('%s is taken apart', (text, parts, local) => {
    const reference = parseReference(text);
    expect([reference.registry, reference.repository, reference.tag]).toEqual(parts);
    expect(localRepository(reference)).toBe(local);
  });

  it.each([
    ['nginx', 'it must begin with its registry, e.g. docker.io/library/nginx:1.29'],
    ['library/nginx:1', 'it must begin with its registry, e.g. docker.io/library/nginx:1.29'],
    ['docker.io/Nginx:1', '"Nginx" is no repository name'],
    ['docker.io/nginx', 'a tag or digest is missing'],
    ['docker.io/nginx:', '"" is no tag'],
    ['docker.io/nginx:a b', '"a b" is no tag'],
    ['docker.io/nginx@sha256:12', 'its digest must be sha256: and 64 hex digits'],
    ['docker.io/../x:1', '"../x" is no repository name'],
  ])('%s is refused with its reason', (text, reason) => {
    expect(() => parseReference(text)).toThrow(`${JSON.stringify(text)} is no full image name: ${reason}`);
  });

  it('is looked up by its digest where it has one', () => {
    expect(manifestReference(parseReference(`docker.io/a:1@${digest}`))).toBe(digest);
    expect(manifestReference(parseReference('docker.io/a:1'))).toBe('1');
  });
});

describe('a login challenge', () => {
  it('is read with its quoted parts', () => {
    expect(parseChallenge('Bearer realm="https://a/t",service="r, x",scope="repository:a:pull"')).toEqual({
      scheme: 'bearer',
      parameters: { realm: 'https://a/t', service: 'r, x', scope: 'repository:a:pull' },
    });
    expect(parseChallenge('basic realm=bke')).toEqual({ scheme: 'basic', parameters: { realm: 'bke' } });
    expect(parseChallenge('Negotiate')).toBeUndefined();
    expect(parseChallenge(undefined)).toBeUndefined();
  });
});

describe('a refusal of a registry', () => {
  const refused = (status: number, body: string) =>
    refusalError({ registry: 'r:1', repository: 'a/b', action: 'push x', status, body: Buffer.from(body) });

  it('has its own words', () => {
    expect(refused(400, '{"errors":[{"code":"DIGEST_INVALID","message":"no","detail":{"a":1}}]}').message).toBe(
      'r:1/a/b: cannot push x: HTTP 400: DIGEST_INVALID: no: {"a":1}',
    );
    expect(refused(502, '<h1>Bad\n gateway</h1>').message).toBe(
      'r:1/a/b: cannot push x: HTTP 502: <h1>Bad gateway</h1>',
    );
    expect(refused(500, '').message).toBe('r:1/a/b: cannot push x: HTTP 500');
  });

  it('is told by its kind', () => {
    const codes = [401, 403, 404, 500].map((status) => refused(status, '{}').code);
    expect(codes).toEqual([
      'BKE_REGISTRY_LOGIN',
      'BKE_REGISTRY_LOGIN',
      'BKE_REGISTRY_NOT_FOUND',
      'BKE_REGISTRY_REFUSED',
    ]);
    const full = '{"errors":[{"code":"UNKNOWN","detail":{"Err":"write /x: no space left on device"}}]}';
    expect(refused(500, full).code).toBe('BKE_DISK_FULL');
  });
});

describe('a range', () => {
  it.each([
    ['bytes=0-0', 10, { start: 0, length: 1 }],
    ['bytes=2-', 10, { start: 2, length: 8 }],
    ['bytes=2-100', 10, { start: 2, length: 8 }],
    ['bytes=-3', 10, { start: 7, length: 3 }],
    ['bytes=-30', 10, { start: 0, length: 10 }],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=5-2', 10, undefined],
    ['bytes=0-1,3-4', 10, undefined],
    ['bytes=-', 10, undefined],
    ['lines=1-2', 10, undefined],
  ])('%s of %i bytes', (header, size, range) => {
    expect(parseRange(header, size)).toEqual(range);
  });

  it('never leaves the file', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(1000), (first, last, size) => {
        for (const header of [`bytes=${first}-${last}`, `bytes=${first}-`, `bytes=-${last}`]) {
          const range = parseRange(header, size);
          if (typeof range !== 'object') continue;
          expect(range.start).toBeGreaterThanOrEqual(0);
          expect(range.length).toBeGreaterThan(0);
          expect(range.start + range.length).toBeLessThanOrEqual(size);
        }
      }),
    );
  });

  const file = { path: 'f', digest, size: 10, modified: new Date(0) };

  it('counts only for the very file it was begun with', () => {
    const part = { status: 206, range: { start: 5, length: 5 } };
    const whole = { status: 200, range: { start: 0, length: 10 } };
    expect(answerFor({ range: 'bytes=5-' }, file)).toEqual(part);
    expect(answerFor({ range: 'bytes=5-', 'if-range': `"${digest}"` }, file)).toEqual(part);
    expect(answerFor({ range: 'bytes=5-', 'if-range': 'Thu, 01 Jan 1970 00:00:00 GMT' }, file)).toEqual(part);
    expect(answerFor({ range: 'bytes=5-', 'if-range': '"sha256:other"' }, file)).toEqual(whole);
    expect(answerFor({ 'if-none-match': `"x", W/"${digest}"` }, file)).toEqual({ status: 304 });
    expect(answerFor({ 'if-none-match': '*' }, file)).toEqual({ status: 304 });
    expect(answerFor({ range: 'bytes=10-' }, file)).toEqual({ status: 416 });
  });
});
