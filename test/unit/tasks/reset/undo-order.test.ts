import { expect, it } from 'vitest';
import type { Change } from '../../../../src/host/changes/change.ts';
import type { LedgerResource } from '../../../../src/host/ledger/ledger.ts';
import { inUndoOrder } from '../../../../src/tasks/reset/select.ts';

function resource(kind: 'directory' | 'zone' | 'file', path: string): LedgerResource {
  const content = { text: '' };
  const changes: Record<typeof kind, Change> = {
    directory: { kind: 'directory', path, mode: 0o755 },
    zone: { kind: 'zone', path },
    file: { kind: 'file', path, mode: 0o644, content },
  };
  const change = changes[kind];
  const key = `${kind}:${path}`;
  const record = { first: null, last: change, applied: null, versions: [{ change, before: null, applied: null }] };
  return { key, description: key, undo: { action: 'remove', what: key }, scopes: ['node'], sharedWith: [], record };
}

it('a directory in a zone goes right after the zone, everything else stays last made first', () => {
  const lastFirst = [
    resource('file', '/etc/kubernetes/own.yaml'),
    resource('directory', '/etc/kubernetes/own.d'),
    resource('directory', '/etc/kubernetes'),
    resource('directory', '/usr/local/libexec/bke'),
    resource('zone', '/run/kubeadm'),
    resource('zone', '/etc/kubernetes'),
    resource('directory', '/etc/kubernetes'),
    resource('file', '/etc/hosts'),
  ];
  expect(inUndoOrder(lastFirst).map(({ key }) => key)).toEqual([
    'file:/etc/kubernetes/own.yaml',
    'directory:/usr/local/libexec/bke',
    'zone:/run/kubeadm',
    'zone:/etc/kubernetes',
    'directory:/etc/kubernetes/own.d',
    'directory:/etc/kubernetes',
    'directory:/etc/kubernetes',
    'file:/etc/hosts',
  ]);
});
