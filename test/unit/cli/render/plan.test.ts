// The plan of a dry run.
import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../../../src/cli/render/plan.ts';
import { createTheme } from '../../../../src/cli/theme.ts';
import { events } from '../../../fakes/events.ts';

const theme = createTheme(false);

describe('the plan of a dry run', () => {
  const planned = (host: string | undefined, action: 'create' | 'change' | 'remove' | 'run' | 'keep', what: string) =>
    events([
      0,
      { type: 'step.planned', phase: 'p', step: 's', ...(host === undefined ? {} : { host }), action, what },
    ]).flatMap((event) => (event.type === 'step.planned' ? [event] : []));

  it('lists what would be done on each host, equal hosts together', () => {
    const plan = ['w1', 'w2', 'w3'].flatMap((host) => [
      ...planned(host, 'create', 'file /etc/bke/a'),
      ...planned(host, 'change', `unit ${host === 'w3' ? 'other' : 'x'}.service`),
      ...planned(host, 'run', 'push 12 images to the registry'),
      ...planned(host, 'keep', 'file /etc/hosts'),
      ...planned(host, 'remove', 'directory /var/lib/bke\u001B[2J'),
    ]);
    expect(renderPlan(plan, theme, 0)).toBe(
      [
        'Plan for w1, w2 (2 hosts):',
        '  + create file /etc/bke/a',
        '  ~ change unit x.service',
        '  > push 12 images to the registry',
        '  - remove directory /var/lib/bke\\x1b[2J',
        '  1 to create, 1 to change, 1 to remove and 1 to run; 1 stays as it is',
        '',
        'Plan for w3:',
        '  + create file /etc/bke/a',
        '  ~ change unit other.service',
        '  > push 12 images to the registry',
        '  - remove directory /var/lib/bke\\x1b[2J',
        '  1 to create, 1 to change, 1 to remove and 1 to run; 1 stays as it is',
        '',
      ].join('\n'),
    );
  });

  it('says so where there is nothing to do, and shows what stays with -v', () => {
    const keep = planned(undefined, 'keep', 'file /etc/hosts');
    expect(renderPlan(keep, theme, 0)).toBe('Plan: nothing to do, everything is as it should be.\n');
    expect(renderPlan([...keep, ...planned(undefined, 'run', 'x')], theme, 1)).toContain('  = keep file /etc/hosts\n');
  });
});
