import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { containerdConfig } from '../../../../src/tasks/node/containerd-config.ts';
import { kubeletDropIn, kubeletUnit, podResolvConf } from '../../../../src/tasks/node/kubelet-config.ts';

describe('the command line of the kubelet', () => {
  const template = '{{program}} {{configDir}} {{arguments}}';

  it('has what the node is told by flags only', () => {
    const options = {
      program: '/usr/local/libexec/bke/kubelet-v1.36.3/kubelet',
      nodeIP: '10.0.0.5',
      providerID: 'bke://bke/h1/4f2a',
      nodeLabels: { rack: 'a', 'example.org/zone': 'z1' },
    };
    expect(kubeletUnit(template, options)).toContain(
      '--node-ip=10.0.0.5 \\\n  --provider-id=bke://bke/h1/4f2a \\\n  --node-labels=rack=a,example.org/zone=z1',
    );
  });

  it('keeps systemd from reading anything into a value', () => {
    const unit = kubeletUnit(template, { program: '/k', nodeIP: '10.0.0.5', nodeLabels: { a: '%h $HOME' } });
    expect(unit).toContain('"--node-labels=a=%%h $$HOME"');
  });
});

describe("pods' name servers", () => {
  it("are the host's where pods can reach them", () => {
    expect(podResolvConf('search site\nnameserver 10.0.0.2\nnameserver fd00::2\n', '10.0.0.5')).toBeUndefined();
  });

  it.each([
    ['there is no file', undefined, ['nameserver 10.0.0.5']],
    ['the file names none', '# empty\n', ['nameserver 10.0.0.5']],
    ['all are on loopback', 'search site\nnameserver 127.0.0.53\n', ['search site', 'nameserver 10.0.0.5']],
    [
      'one is on loopback',
      'nameserver ::1\noptions timeout:1\nnameserver 10.0.0.2',
      ['options timeout:1', 'nameserver 10.0.0.2'],
    ],
  ])('have one that answers where %s', (_when, text, lines) => {
    const [mark, ...rest] = (podResolvConf(text, '10.0.0.5') ?? '').trimEnd().split('\n');
    expect(mark).toMatch(/^# Written by bke/);
    expect(rest).toEqual(lines);
  });
});

describe('settings of a node', () => {
  // As configuration files have them; the texts are those that a reader of YAML 1.1 takes for something else where they have no quotes.
  const values = { a: 85, x: 0.5, y: '1', z: '0644', e: 1000, o: 'yes', n: 'no', off: 'off', t: true, big: '1e3' };

  it('reach the kubelet with the type they have, whatever YAML is read', () => {
    const text = kubeletDropIn({ ...values, deep: [values] });
    for (const version of ['1.1', '1.2'] as const)
      expect(parse(text, { version })).toMatchObject({ ...values, deep: [values] });
  });

  it('reach containerd with the type they have', () => {
    const text = containerdConfig({ sandboxImage: 'p', systemdCgroup: true, runc: '/r', settings: { mine: values } });
    const lines = text.slice(text.indexOf('[mine]')).split('\n');
    expect(lines.slice(1, 11)).toEqual([
      'a = 85',
      'x = 0.5',
      "y = '1'",
      "z = '0644'",
      'e = 1000',
      "o = 'yes'",
      "n = 'no'",
      "off = 'off'",
      't = true',
      "big = '1e3'",
    ]);
  });
});
