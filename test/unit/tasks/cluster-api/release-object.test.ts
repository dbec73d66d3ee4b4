import { assert, pre, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../../src/lib/digest.ts';
import type { Catalogue } from '../../../../src/release/catalogue.ts';
import { releaseObject, releaseObjectName } from '../../../../src/tasks/cluster-api/release-object.ts';

const empty: Catalogue = { name: 'prod', version: '1.2.3', kubernetesVersions: [], files: [], images: [], charts: [] };

describe('the catalogue of a release in the cluster', () => {
  it('is one immutable ConfigMap with the whole catalogue, its label and its digest', () => {
    const text = JSON.stringify(empty);
    expect(releaseObject(empty)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: releaseObjectName(empty),
        namespace: 'bke-system',
        labels: { 'bke.io/catalogue': '' },
        annotations: { 'bke.io/content-digest': digestOf(text) },
      },
      immutable: true,
      data: { 'catalogue.json': text },
    });
  });

  it('is refused where a ConfigMap cannot hold it', () => {
    const digest = digestOf('x');
    const images = Array.from({ length: 6000 }, (_, index) => ({
      name: 'image',
      ref: `registry.example.com/a/rather/long/name/of/an/image-${index}:v1.2.3`,
      digest,
      platforms: { 'linux/amd64': digest },
    }));
    expect(() => releaseObject({ ...empty, images })).toThrow(/of release prod 1\.2\.3 has \d{7} bytes; 1048576 fit/);
  });

  it('has a valid name for every release, another one for another release', () => {
    const text = string({ minLength: 1, maxLength: 300 });
    assert(
      property(text, text, text, (name, version, other) => {
        pre(version !== other);
        const made = releaseObjectName({ name, version });
        // The form that the API server checks (RFC 1123 subdomain; labels may be long).
        expect(made).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
        expect(made.length).toBeLessThanOrEqual(253);
        expect(releaseObjectName({ name, version: other })).not.toBe(made);
      }),
    );
  });

  it('is not taken for the one whose name and version look the same together', () => {
    expect(releaseObjectName({ name: 'a-b', version: 'c' })).not.toBe(releaseObjectName({ name: 'a', version: 'b-c' }));
  });

  it.each([
    ['prod', '1.2.3', /^release-prod-1\.2\.3-[0-9a-f]{8}$/],
    ['Prod_A', '1.2.3+k3s1', /^release-prod-a-1\.2\.3-k3s1-[0-9a-f]{8}$/],
  ])('is called after %s %s', (name, version, expected) => {
    expect(releaseObjectName({ name, version })).toMatch(expected);
  });
});
