import { describe, expect, it } from 'vitest';
import { agentAccess } from '../../../src/cluster/agent-access.ts';
import { fieldAt, listAt } from '../../../src/kube/fields.ts';

describe('the rights of an agent', () => {
  const objects = agentAccess({ namespace: 'bke', host: 'w1' });

  it('belong to an account of its own, whose token no pod gets', () => {
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)).toEqual([
      'ServiceAccount bke/agent-w1',
      'Role bke/agent-w1',
      'RoleBinding bke/agent-w1',
      'Lease bke/agent-w1',
    ]);
    expect(objects[0]).toHaveProperty('automountServiceAccountToken', false);
    expect(fieldAt(objects[2], 'subjects')).toEqual([{ kind: 'ServiceAccount', namespace: 'bke', name: 'agent-w1' }]);
  });

  it('are all held to one object each', () => {
    const rules = listAt(objects[1], 'rules');
    expect(rules.length).toBeGreaterThan(0);
    for (const rule of rules) {
      expect(listAt(rule, 'resourceNames')).toHaveLength(1);
      expect(String(listAt(rule, 'resourceNames')[0])).toMatch(/^(agent-|inbox-)?w1$/);
      expect(listAt(rule, 'verbs')).not.toContain('*');
    }
  });
});
