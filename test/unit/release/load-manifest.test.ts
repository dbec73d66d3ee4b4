import { describe, expect, it } from 'vitest';
import { BkeError } from '../../../src/lib/errors.ts';
import { parseManifest } from '../../../src/release/load-manifest.ts';
import { releaseYaml } from '../../fakes/release.ts';

const file =
  '- {kind: file, name: kubelet, version: v1.36.3, type: binary, path: "k/{platform}/kubelet", sources: {linux/amd64: {file: a}}}';

function mistakes(text: string): readonly string[] {
  try {
    parseManifest(text, 'release.yaml');
  } catch (thrown) {
    if (thrown instanceof BkeError) {
      expect(thrown.code).toBe('BKE_MANIFEST_INVALID');
      return thrown.details;
    }
    throw thrown;
  }
  return [];
}

describe('a release manifest', () => {
  it('is read with its artifacts', () => {
    const { metadata, spec } = parseManifest(releaseYaml(file), 'release.yaml');
    expect(metadata).toEqual({ name: 'test', version: '1.0.0' });
    expect(spec.platforms).toEqual(['linux/amd64', 'linux/arm64']);
    expect(spec.artifacts[0]).toMatchObject({ kind: 'file', path: 'k/{platform}/kubelet' });
  });

  it.each([
    ['1.30', '1.30'],
    ['1.10', '1.10'],
    ['0x10', '0x10'],
    ['1e3', '1e3'],
    ['010', '010'],
    ['true', 'true'],
    ['"1.30"', '1.30'],
    ['v1.30', 'v1.30'],
  ])('keeps the version %s as it was written', (written, kept) => {
    const text = releaseYaml(`- {kind: chart, name: a, version: ${written}, source: {file: a.tgz}}`);
    expect(parseManifest(text, 'release.yaml').spec.artifacts[0]).toMatchObject({ version: kept });
    expect(parseManifest(text.replace('version: 1.0.0', `version: ${written}`), 'f').metadata.version).toBe(kept);
  });

  it('tells all its mistakes at once, each with its place', () => {
    const text = [
      'apiVersion: bke.io/v1alpha1',
      'kind: Relase',
      'metadata: {name: test, verison: 1.0.0, version: 1.0.0}',
      'spec:',
      '  platforms: [linux/amd64, linux/arm46]',
      '  kubernetesVersions: []',
      '  artifacts:',
      '  - kind: fil',
      '  - kind: file',
      '    name: ""',
      '    version:',
      '    type: binary',
      '    path: /etc/x',
      '    sources: {linux/arm: {file: a}}',
      '  - {kind: image, name: a, ref: r.io/a:1, sources: {all: {file: a.tar}}}',
      '  - {kind: chart, name: [a], version: 1.0.0, source: {url: "https://h/a.tgz"}}',
      '  - {kind: chart, name: a, version: 1.0.0, source: {url: "http://h/a.tgz", digest: sha256:1}}',
      '  - {kind: chart, name: a, version: 1.0.0}',
    ].join('\n');
    expect(mistakes(text)).toEqual([
      'release.yaml:2:7: kind: must be Release, but is the text "Relase"; did you mean Release?',
      'release.yaml:3:24: metadata.verison: there is no such field; did you mean version?',
      'release.yaml:5:28: spec.platforms[1]: must be one of linux/amd64 or linux/arm64, but is the text "linux/arm46"; did you mean linux/arm64?',
      'release.yaml:8:11: spec.artifacts[0].kind: must be one of file, image or chart, but is the text "fil"; did you mean file?',
      'release.yaml:10:11: spec.artifacts[1].name: must not be empty',
      'release.yaml:11:13: spec.artifacts[1].version: must be text, but is empty',
      'release.yaml:13:11: spec.artifacts[1].path: must be a relative path of letters, digits and . _ + @ ~ -, without empty parts and parts that begin with a dot',
      'release.yaml:14:15: spec.artifacts[1].sources["linux/arm"]: there is no such field; did you mean linux/arm64?',
      'release.yaml:15:58: spec.artifacts[2].sources.all: an image comes from a layout or registry, not from a file or url',
      'release.yaml:16:25: spec.artifacts[3].name: must be text, but is a list',
      'release.yaml:16:54: spec.artifacts[3].source.digest: is missing: what comes from a url must be checked',
      'release.yaml:17:58: spec.artifacts[4].source.url: must be an https:// address',
      'release.yaml:17:84: spec.artifacts[4].source.digest: must be sha256: and 64 hex digits',
      'release.yaml:18:5: spec.artifacts[5].source: is missing',
    ]);
  });

  it.each([
    ['', 'release.yaml:1:1: YAML: the file is empty'],
    ['# nothing\n', 'release.yaml:1:1: YAML: the file is empty'],
    [
      'kind: !x y\n',
      'release.yaml:1:7: YAML: this is no valid YAML: Unresolved tag (text that begins with ! needs quotes)',
    ],
    ['kind: a\nkind: b\n', 'release.yaml:2:1: YAML: this is no valid YAML: Map keys must be unique'],
    ['kind: a\n---\nkind: b\n', 'release.yaml:2:1: YAML: a second document begins here; the file must have only one'],
    [
      'kind: @a\n',
      'release.yaml:1:7: YAML: this is no valid YAML: Plain value cannot start with reserved character @ (such a text needs quotes)',
    ],
  ])('refuses %j as the YAML it is', (text, message) => {
    expect(mistakes(text)[0]).toBe(message);
  });

  it('suggests nothing that was written, where it is right for another kind', () => {
    const one = (rest: string): string => `- {kind: file, name: a, version: v1, path: a, type: other, ${rest}}`;
    expect(mistakes(releaseYaml(one('source: {file: a}')))).toEqual([
      'release.yaml:8:5: spec.artifacts[0].sources: is missing',
      'release.yaml:8:62: spec.artifacts[0].source: there is no such field in this kind of entry',
    ]);
    expect(mistakes(releaseYaml(one('sources: {all: {file: a}}')))).toEqual([
      'release.yaml:8:72: spec.artifacts[0].sources.all: there is no such field in this kind of entry',
    ]);
  });

  it('refuses what is there twice and a source that is several', () => {
    const both = '- {kind: chart, name: a, version: 1.0.0, source: {file: a, layout: b}}';
    expect(mistakes(releaseYaml(`${file}\n${both}`))).toEqual([
      'release.yaml:9:52: spec.artifacts[1].source: must have exactly one of file, layout, url and registry',
      'release.yaml:9:52: spec.artifacts[1].source: only images come from a layout or registry; give a file or url',
    ]);
    const image = '- {kind: image, name: a, ref: r.io/a:1, sources: {all: {layout: a}}}';
    expect(mistakes(releaseYaml(`${file}\n${file}\n${image}\n${image}`))).toEqual([
      'release.yaml:9:5: spec.artifacts[1]: file kubelet v1.36.3 is there twice',
      'release.yaml:9:5: spec.artifacts[1]: path k/{platform}/kubelet is there twice',
      'release.yaml:11:5: spec.artifacts[3]: image r.io/a:1 is there twice',
    ]);
  });

  it('refuses a name or version that would lead out of the folder that is called by it', () => {
    const lead = 'must begin with a letter or digit and have only letters, digits and . _ + ~ -';
    expect(mistakes(releaseYaml(file.replace('version: v1.36.3', 'version: 1/../../x')))).toEqual([
      expect.stringContaining(`spec.artifacts[0].version: ${lead}`),
    ]);
    expect(mistakes(releaseYaml(file.replace('name: kubelet', 'name: ../kubelet')))).toEqual([
      expect.stringContaining(`spec.artifacts[0].name: ${lead}`),
    ]);
  });

  it('refuses paths that cannot all be files in one repository', () => {
    const at = (name: string, path: string) =>
      file.replace('kubelet,', `${name},`).replace('k/{platform}/kubelet', path);
    const several = (...paths: string[]) => mistakes(releaseYaml(paths.map((path, i) => at(`n${i}`, path)).join('\n')));
    expect(several('r/{platform}/r', 'r/linux/amd64/r/x')).toEqual([
      expect.stringContaining(
        'spec.artifacts[1].path: path r/linux/amd64/r/x lies below r/linux/amd64/r, which is a file',
      ),
    ]);
    expect(several('r/a/x', 'r/a')).toEqual([expect.stringContaining('path r/a is a folder of another file')]);
    expect(several('r/{platform}/x', 'r/linux/arm64/x')).toEqual([
      expect.stringContaining('path r/linux/arm64/x is there twice'),
    ]);
    expect(several('r/a', 'r/ab', 'r/b/a')).toEqual([]);
    for (const bad of ['.digests/x', 'a/.x', 'a//b', 'a/', '{x}/a', 'x'.repeat(201), 'a/'.repeat(600)])
      expect(several(bad)).toEqual([expect.stringContaining('spec.artifacts[0].path: must be a relative path')]);
  });

  it('refuses names, versions and platforms that no bundle may have', () => {
    const text = releaseYaml(file);
    const changed = (before: string, after: string) => mistakes(text.replace(before, after));
    expect(changed('name: test', 'name: "a\\e[2Jb"')).toEqual([
      expect.stringContaining('metadata.name: has a control character'),
    ]);
    expect(changed('name: test', `name: ${'x'.repeat(100_000)}`)).toEqual([
      expect.stringContaining('metadata.name: must have at most 100 characters'),
    ]);
    expect(changed('[v1.36.3]', '[1.30, "x y", v1.36.3]')).toEqual([
      expect.stringContaining('spec.kubernetesVersions[0]: must be a version such as v1.36.3'),
      expect.stringContaining('spec.kubernetesVersions[1]: must be a version such as v1.36.3'),
    ]);
    expect(changed('[v1.36.3]', '[v1.36.3, v1.36.3]')).toEqual([
      expect.stringContaining('spec.kubernetesVersions[1]: v1.36.3 is there twice'),
    ]);
    expect(changed('linux/arm64]', 'linux/amd64]')).toEqual([
      expect.stringContaining('spec.platforms[1]: linux/amd64 is there twice'),
    ]);
  });

  it('does not let aliases blow a file up', () => {
    const six = (name: string): string => Array.from({ length: 6 }, () => `*${name}`).join(', ');
    const bomb = [
      'a: &a [x, x, x]',
      ...['b', 'c', 'd', 'e', 'f', 'g', 'h'].map(
        (name, index) => `${name}: &${name} [${six('abcdefg'.charAt(index))}]`,
      ),
    ];
    expect(mistakes(bomb.join('\n'))).toEqual(['release.yaml:1:1: YAML: more than 10000 aliases']);
  });
});
