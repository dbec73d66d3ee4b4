// Puts K3s on the machine it runs on as `bke init` does, with a program that is none: the record of it is the real one.
import { writeFile } from 'node:fs/promises';
import { noNodeSettings } from '../../../src/config/node-settings.ts';
import { kindOf } from '../../../src/host/changes/kinds.ts';
import { openLocalHost } from '../../../src/host/local/local-host.ts';
import { openLedger } from '../../../src/host/ledger/ledger.ts';
import { createTaskScope } from '../../../src/operations/task-scope.ts';
import { k3sInstallTask } from '../../../src/tasks/bootstrap-cluster/k3s/install.ts';

const host = await openLocalHost();
const ledger = await openLedger(host, { operation: 'test', command: 'bke init' });
const source = '/srv/k3s';
await writeFile(source, '#!/bin/sh\n');
const scope = createTaskScope(
  {
    host,
    scope: 'bootstrap-cluster',
    dryRun: false,
    now: () => new Date(),
    describe: (change) => kindOf(change).describe(change),
    ledger: {
      // There is no systemd in the sandbox: what it would start is a file here.
      apply: (wanted, change) =>
        ledger.apply(
          wanted,
          change.kind === 'unit'
            ? { kind: 'file', path: `/etc/systemd/system/${change.name}`, mode: 0o644, content: { text: change.text } }
            : change,
        ),
    },
  },
  {
    place: { phase: 'test', step: 'test' },
    dryRun: false,
    signal: new AbortController().signal,
    emit: () => undefined,
    changed: () => undefined,
    waitsFor: () => undefined,
  },
);
await k3sInstallTask.run(scope, {
  k3s: { name: 'k3s', version: 'v1.36.3+k3s1', type: 'binary', source, digest: await host.files.digest(source) },
  pauseImage: 'registry.k8s.io/pause:3.10.2',
  corednsImage: 'registry.k8s.io/coredns/coredns:v1.14.2',
  nodeName: 'sandbox',
  hostIP: '10.0.0.5',
  port: 36_443,
  podCIDR: '100.72.0.0/16',
  serviceCIDR: '100.73.0.0/16',
  clusterDNS: '100.73.0.10',
  registryHost: 'deploy.bke.internal:40443',
  mirrored: ['docker.io'],
  settings: noNodeSettings,
  ca: 'PEM\n',
});
await ledger.finish();
await ledger.close();
