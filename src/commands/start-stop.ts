// bke start and bke stop: the local services' units.
import type { Command, CommandContext } from './context.ts';

export const start: Command = {
  path: ['start'],
  group: 'bootstrap',
  summary: 'Start the local services of this host',
  description:
    'Renews the certificate of the services where two thirds of its life are over. Services that run are left alone.',
  examples: [{ command: 'bke start', says: 'after bke stop' }],
  run: async (context) => {
    await control(context, 'start');
    return { kind: 'none' };
  },
};

export const stop: Command = {
  path: ['stop'],
  group: 'bootstrap',
  summary: 'Stop the local services of this host until the next start or boot',
  description:
    'The bootstrap cluster and its containers go on; hosts can pull no images and files meanwhile. Nothing is removed: that is bke reset.',
  examples: [{ command: 'bke stop', says: 'before the machine is serviced' }],
  run: async (context) => {
    await control(context, 'stop');
    return { kind: 'none' };
  },
};

async function control(context: CommandContext, verb: 'start' | 'stop'): Promise<void> {
  const { BkeError } = await import('../lib/errors.ts');
  const { readSettings } = await import('../tasks/services/records.ts');
  const { controlPhase } = await import('../tasks/services/control.ts');
  const { runOnThisHost } = await import('./host-operation.ts');
  const { requireRoot } = await import('./require-root.ts');
  const host = await context.openLocalHost();
  try {
    const settings = await readSettings(host);
    if (settings === undefined) {
      throw new BkeError('BKE_NOT_INITIALISED', 'this host has no local services', { hint: 'bke init sets them up.' });
    }
    requireRoot(`bke ${verb}`);
    const { hostname } = await import('node:os');
    const phase = controlPhase(verb, { host: host.name, hostname: hostname(), settings, now: context.now() });
    await runOnThisHost(context, {
      host,
      action: verb,
      phases: [phase],
      dryRun: false,
      scopeOf: () => 'services',
      next: () => (verb === 'start' ? ['bke status'] : ['bke start']),
    });
  } finally {
    await host.close();
  }
}
