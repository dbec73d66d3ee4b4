// What `systemctl show` prints, read.
import { describe, expect, it } from 'vitest';
import { parseTimestamp, parseUnits } from '../../../src/host/systemd.ts';

describe("systemd's time stamps", () => {
  it('are read as UTC', () => {
    expect(parseTimestamp('Mon 2026-11-30 09:26:34 UTC')?.toISOString()).toBe('2026-11-30T09:26:34.000Z');
  });

  it.each(['', 'n/a', 'Mon 2026-11-30 09:26:34 CET'])('%s is none', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});

describe('units', () => {
  it('leaves out units that are not there', () => {
    const text =
      'Id=kubelet.service\nLoadState=loaded\nActiveState=active\nUnitFileState=enabled\nFragmentPath=/etc/systemd/system/kubelet.service\n\nId=k3s.service\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\nFragmentPath=\n\nId=gone.service\nLoadState=not-found\nActiveState=active\n';
    expect(parseUnits(text)).toMatchObject([
      {
        name: 'kubelet.service',
        active: 'active',
        enabled: 'enabled',
      },
      { name: 'gone.service', load: 'not-found', active: 'active', enabled: '' },
    ]);
  });
});
