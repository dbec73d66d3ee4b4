import { describe, expect, it } from 'vitest';
import { differenceLines, whyNothingToGiveBack } from '../../../scripts/demo-words.ts';

const notes = { host: 'demo-boot', changes: ['files: + /root/notes (file 0644 …)'] };

describe('what differs after the resets of the demo', () => {
  it('is listed as what may be the files of the user, and no other reset is advised', () => {
    const text = differenceLines([notes], { failed: false }).join('\n');
    expect(text).toContain('Each bke reset ended well');
    expect(text).toContain('  demo-boot\n    files: + /root/notes');
    expect(text).toContain('Files that you made yourself are expected here');
    expect(text).not.toContain('npm run demo -- reset');
  });

  it('is not called clean where a reset failed', () => {
    const text = differenceLines([notes], { failed: true }).join('\n');
    expect(text).toContain('/root/notes');
    expect(text).not.toMatch(/ended well|expected/);
  });

  it('is bounded', () => {
    const changes = Array.from({ length: 50 }, (_, i) => `files: + /root/${i}`);
    const lines = differenceLines([{ host: 'demo-w1', changes }], { failed: false });
    expect(lines.length).toBeLessThan(30);
    expect(lines).toContain('    … and 30 more, above');
  });
});

describe('a reset of the demo', () => {
  it.each([
    [[], true, 'There is no demo'],
    [['demo-boot'], false, 'nothing to give back'],
  ])('of the hosts %j, scanned %j: %s', (hosts, scanned, words) => {
    expect(whyNothingToGiveBack({ hosts, scanned })).toContain(words);
  });

  it('is done where hosts are there that were scanned', () => {
    expect(whyNothingToGiveBack({ hosts: ['demo-boot'], scanned: true })).toBeUndefined();
  });
});
