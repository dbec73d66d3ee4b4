// A reset of a host whose agent is at work, and what it says of the cluster that goes on counting on the host.
import { describe, expect, it } from 'vitest';
import { inSandbox, whyNoSandbox } from './sandbox.ts';

const no = whyNoSandbox();
if (no !== undefined) process.stderr.write(`reset/agent skipped: ${no}\n`);

/** The lock in the hands of the agent, which ends when systemd is asked to stop it. */
const agent = `
mkdir -p /var/lib/bke/lock /run/flannel; echo x > /run/flannel/subnet.env
sleep 1000 & pid=$!
claim=/var/lib/bke/lock/$pid-claim
printf '{"pid":%s,"startTicks":"%s","bootId":"%s","host":"h","command":"bke agent run","since":"2026-11-30T10:00:00Z"}\\n' $pid "$(cut -d' ' -f22 /proc/$pid/stat)" "$(cat /proc/sys/kernel/random/boot_id)" > $claim
cat > /usr/local/sbin/systemctl <<S
#!/bin/bash
echo "\\$*" >> /tmp/asked
case "\\$*" in "stop -- bke-agent.service") [ -e /tmp/stubborn ] && exit 1; kill $pid; rm -f $claim ;; esac
exit 0
S
chmod 755 /usr/local/sbin/systemctl
touch /tmp/asked; asked() { grep -c -x -- "$1 -- bke-agent.service" /tmp/asked; }
`;

describe.skipIf(no !== undefined)('a reset of a host whose agent is at work', () => {
  it('stops the agent first where the agent goes as well', async () => {
    const { told, stdout, stderr } = await inSandbox(`${agent}
reset; tell stops "$(asked stop)"; tell starts "$(asked start)"; there flannel /run/flannel; there state /var/lib/bke
grep -q 'the agent of this host is at work' /tmp/out && tell says yes`);
    const done = { rc1: '0', stops: '1', starts: '0', flannel: 'gone', state: 'gone', says: 'yes' };
    expect(told, `${stdout}${stderr}`).toEqual(done);
  });

  it('does nothing where the agent is to stay, and lets it work', async () => {
    const { told, stdout, stderr } = await inSandbox(`${agent}
bke reset --yes >/tmp/out 2>&1; tell rc $?; cat /tmp/out >&2; grep -q "'bke reset --yes --all'" /tmp/out && tell hint yes
tell stops "$(asked stop)"; there flannel /run/flannel; kill -0 $pid && tell agent alive`);
    const refused = { rc: '7', hint: 'yes', stops: '0', flannel: 'there', agent: 'alive' };
    expect(told, `${stdout}${stderr}`).toEqual(refused);
  });

  it('changes nothing where the agent does not stop, and starts it where the reset does not begin', async () => {
    const { told, stdout, stderr } = await inSandbox(`${agent}
touch /tmp/stubborn; reset; there flannel1 /run/flannel; rm /tmp/stubborn
mkdir -p /run/k3s/containerd/io.containerd.runtime.v2.task/mine/c1
reset; tell starts "$(asked start)"; there flannel2 /run/flannel; grep -q BKE_RESET_REFUSED /tmp/out && tell code yes`);
    const kept = { rc1: '7', flannel1: 'there', rc2: '7', starts: '1', flannel2: 'there', code: 'yes' };
    expect(told, `${stdout}${stderr}`).toEqual(kept);
  });

  it('leaves it alone in a dry run', async () => {
    const { told, stdout, stderr } = await inSandbox(`${agent}
bke reset --all --dry-run >/tmp/out 2>&1; tell rc $?; cat /tmp/out >&2; tell stops "$(asked stop)"; kill -0 $pid && tell agent alive`);
    expect(told, `${stdout}${stderr}`).toEqual({ rc: '0', stops: '0', agent: 'alive' });
  });
});
