// What a reset keeps of itself while it runs and when it ends early, and what it does not do because nobody agreed to it.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundled } from '../../fakes/bundled.ts';
import { inSandbox, whyNoSandbox } from './sandbox.ts';

const no = whyNoSandbox();
if (no !== undefined) process.stderr.write(`reset/journal skipped: ${no}\n`);

const driver = bundled(fileURLToPath(new URL('confirm-driver.ts', import.meta.url)));
const node = `
mkdir -p /etc/kubernetes/manifests /run/flannel; echo x > /etc/kubernetes/kubelet.conf; echo x > /run/flannel/subnet.env
mkdir -p /srv/keep; echo c > /srv/keep/c
journals() { cat /var/lib/bke/operations/*-reset-*.jsonl 2>/dev/null; }
`;

describe.skipIf(no !== undefined)('the journal of a reset', () => {
  it('is there while it runs and after it is killed, and gone after one that ended well', async () => {
    const { told, stdout, stderr } = await inSandbox(`${node}
      mkdir -p /var/lib/kubelet/pods/u; mount --bind /srv/keep /var/lib/kubelet/pods/u
      (cd /var/lib/kubelet/pods/u; exec sleep 60) & sleep 0.2
      exec_bke reset --all --mount --yes >/tmp/killed 2>&1 & pid=$!
      for i in $(seq 100); do journals | grep -q reset/mounts && break; sleep 0.1; done
      kill -9 $pid; wait $pid 2>/dev/null
      tell mode "$(stat -c %a /var/lib/bke/operations/*-reset-*.jsonl)"
      journals | head -1 | grep -q operation.started && tell started yes
      journals | grep -q operation.finished || tell finished no
      kill %1; wait %1 2>/dev/null
      reset
      there state /var/lib/bke; there data /srv/keep/c`);
    expect(told, `${stdout}${stderr}`).toEqual({
      mode: '600',
      started: 'yes',
      finished: 'no',
      rc1: '0',
      state: 'gone',
      data: 'there',
    });
  });

  it('of one that could not take everything away tells what stayed', async () => {
    const { told, stdout, stderr } = await inSandbox(`${node}
      mkdir -p /var/lib/kubelet/pods/u; mount --bind /srv/keep /var/lib/kubelet/pods/u
      (cd /var/lib/kubelet/pods/u; exec sleep 60) & sleep 0.2
      reset
      journals | grep -q '"code":"BKE_RESET_INCOMPLETE"' && tell told yes
      kill %1; wait %1 2>/dev/null
      reset
      there state /var/lib/bke`);
    expect(told, `${stdout}${stderr}`).toEqual({ rc1: '1', told: 'yes', rc2: '0', state: 'gone' });
  });
});

describe.skipIf(no !== undefined)('what nobody agreed to', () => {
  it('is not done, and does not pass for done, where the answer is no', async () => {
    const { told, stdout, stderr } = await inSandbox(`${node}
      node '${driver}' false >/tmp/out 2>&1; tell rc $?; grep -q BKE_DECLINED /tmp/out && tell code yes
      there kubernetes /etc/kubernetes/kubelet.conf; there state /var/lib/bke`);
    expect(told, `${stdout}${stderr}`).toEqual({ rc: '1', code: 'yes', kubernetes: 'there', state: 'gone' });
  });

  it.each([
    ['a mount', 'mkdir -p /var/lib/kubelet/pods/u; mount --bind /srv/keep /var/lib/kubelet/pods/u', '/pods/u'],
    ['data', 'mkdir -p /var/lib/etcd/member; echo x > /var/lib/etcd/member/x', '/var/lib/etcd/member'],
    ['a file', 'echo x > /etc/kubernetes/admin.conf', '/etc/kubernetes/admin.conf'],
  ])('%s that came while the question was open stops the reset before it begins', async (_name, comes, shown) => {
    const { told, stdout, stderr } = await inSandbox(`${node}
      node '${driver}' "${comes}" >/tmp/out 2>&1; tell rc $?
      grep -q BKE_RESET_CHANGED /tmp/out && tell code yes
      sed '1,/BKE_RESET_CHANGED/d' /tmp/out | grep -q "${shown}" && tell shown yes
      there kubernetes /etc/kubernetes/kubelet.conf; there state /var/lib/bke
      node '${driver}' true >/tmp/again 2>&1; tell again $?; cat /tmp/out /tmp/again >&2
      there data /srv/keep/c; there after /etc/kubernetes/kubelet.conf`);
    expect(told, `${stdout}${stderr}`).toEqual({
      rc: '7',
      code: 'yes',
      shown: 'yes',
      kubernetes: 'there',
      state: 'gone',
      again: '0',
      data: 'there',
      after: 'gone',
    });
  });

  it('the record of another machine is warned of', async () => {
    const change = JSON.stringify({ kind: 'file', path: '/etc/bke/x', mode: 0o644, content: { text: 'x' } });
    const { told, stdout, stderr } = await inSandbox(`record node '${change}'
      bke reset --dry-run 2>&1 | grep -c 'another machine'
      echo 00000000000000000000000000000001 > /etc/machine-id
      tell dry "$(bke reset --dry-run 2>&1 | grep -c 'another machine')"
      reset; tell real "$(grep -c 'another machine' /tmp/out)"`);
    expect(told, `${stdout}${stderr}`).toEqual({ dry: '1', rc1: '0', real: '1' });
    expect(stdout).toMatch(/^0$/m);
  });
});
