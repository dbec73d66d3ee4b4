// Settings of an init as a test begins from them: what it is about it sets itself.
import { type BootstrapSettings, effectiveSettings } from '../../src/config/bootstrap.ts';

export function bootstrapSettings(change: Partial<BootstrapSettings> = {}): BootstrapSettings {
  const { settings } = effectiveSettings([{ source: 'test', hostIP: '10.0.0.5' }], ['10.0.0.5']);
  return { ...settings, ...change };
}
