// The probe tells what bke put on a host: in a mount namespace of its own, where units and programs are what the test makes them.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const setUp = `set -e
mount -t tmpfs none /etc/systemd/system
printf '# Written by bke. Edits are lost.\\n[Unit]\\n' >/etc/systemd/system/kubelet.service
printf '[Unit]\\n# Written by bke\\n' >/etc/systemd/system/docker.service
mount -t tmpfs none /usr/local; mkdir -p /usr/local/libexec/bke/odd-1 /usr/local/bin
printf '#!/bin/sh\\n' >/usr/local/bin/bke; chmod +x /usr/local/bin/bke; PATH=$PATH:/usr/local/bin
cp /bin/sh /usr/local/libexec/bke/odd-1/sh
/bin/sleep 30 & other=$!
/usr/local/libexec/bke/odd-1/sh -c '/bin/sleep 30 & echo $! >/etc/systemd/system/child; wait' & ours=$!
while [ ! -s /etc/systemd/system/child ]; do sleep 0.05; done
child=$(cat /etc/systemd/system/child)
sh -c "$1" bke-probe
printf '\\n%s %s %s\\n' "$ours" "$child" "$other"
kill $ours $child $other
`;

test('units by their mark, processes by their program and who started them', async () => {
  const probe = await readFile(new URL('../../../assets/host/probe.sh', import.meta.url), 'utf8');
  const { stdout } = await promisify(execFile)('unshare', [
    '--mount',
    '--propagation',
    'private',
    'sh',
    '-c',
    setUp,
    'test',
    probe,
  ]);
  const end = stdout.lastIndexOf(']') + 1;
  const lines: string[] = JSON.parse(stdout.slice(0, end));
  const [ours = '', child = '', other = ''] = stdout.slice(end).trim().split(' ');
  expect(lines.filter((line) => line.startsWith('ownUnit:'))).toEqual(['ownUnit:kubelet']);
  const pids = lines
    .find((line) => line.startsWith('ownPids:'))
    ?.slice('ownPids:'.length)
    .trim()
    .split(' ');
  expect(lines).toContain('bke:/usr/local/bin/bke');
  expect(pids).toEqual(expect.arrayContaining([ours, child]));
  expect(pids).not.toContain(other);
  expect(pids).not.toContain('1');
});
