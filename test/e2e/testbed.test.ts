// The test bed keeps its own promises: real hosts without a way out, a scan that sees every kind of change, nothing left behind.
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  egressSink,
  diffScans,
  type Scan,
  scanMachine,
  startHosts,
  stopHosts,
  type TestHost,
} from '../testbed/index.ts';
import { currentBed } from '../testbed/hosts/bed.ts';
import { testHost } from '../testbed/hosts/host.ts';
import { downHosts, listHosts, upHosts } from '../testbed/hosts/lifecycle.ts';
import { pidsIn } from '../testbed/hosts/cgroups.ts';
import { run } from '../testbed/run.ts';

const bed = currentBed();
let host: TestHost;
let before: Scan;

beforeAll(async () => {
  const [first] = await startHosts(['tb1']);
  if (first === undefined) throw new Error('no host came up');
  host = first;
  before = await scanMachine(host);
});

afterAll(stopHosts);

describe('a host', () => {
  it('is a whole systemd machine of its own name and network', async () => {
    expect(await host.output('systemctl is-system-running --wait')).toBe('running');
    expect(await host.output('hostname')).toBe('tb1');
    expect(await host.output('ip -4 -o address show dev host0')).toContain(`inet ${host.address}/24`);
    expect(await host.output(['cat', '/proc/1/comm'])).toBe('systemd');
  });

  it('passes arguments, input, output and exit codes unchanged', async () => {
    const odd = `a 'b' "c" $HOME \\ *`;
    expect(await host.output(['printf', '%s', odd])).toBe(odd);
    expect(await host.exec('cat; echo oops >&2; exit 7', { input: 'in' })).toEqual({
      exitCode: 7,
      stdout: 'in',
      stderr: 'oops',
    });
  });

  it('answers with the keys it is said to have', async () => {
    const { stdout } = await run(['ssh-keyscan', '-t', 'ed25519,ecdsa', host.address]);
    for (const key of host.hostKeys) expect(stdout).toContain(key.line);
    expect(host.hostKey.fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
  });

  it('reaches hosts of its network only, and the sink counts what tried to leave', async () => {
    const sink = await egressSink();
    const connect = (address: string, port: number) =>
      host.exec(`timeout 10 bash -c 'echo > /dev/tcp/${address}/${port}'`);
    expect((await connect(host.address, 22)).exitCode).toBe(0);
    expect(await sink.attempts()).toEqual([]);
    expect((await connect('198.51.100.7', 443)).exitCode).not.toBe(0);
    await host.exec(`bash -c 'echo > /dev/udp/203.0.113.5/53'`);
    const attempts = await sink.attempts();
    expect(attempts.map(({ from, to, protocol, port }) => ({ from, to, protocol, port }))).toEqual(
      expect.arrayContaining([
        { from: 'tb1', to: '198.51.100.7', protocol: 'tcp', port: 443 },
        { from: 'tb1', to: '203.0.113.5', protocol: 'udp', port: 53 },
      ]),
    );
    expect(attempts).toHaveLength(2);
  });

  it('keeps settings of the whole kernel to itself', async () => {
    const own = await readFile('/proc/sys/kernel/panic', 'utf8');
    expect(await host.output('sysctl -n -w kernel.panic=77; sysctl -n kernel.panic')).toBe('77\n77');
    expect(await readFile('/proc/sys/kernel/panic', 'utf8')).toBe(own);
    await host.output(`sysctl -w kernel.panic=${own.trim()}`);
  });
});

describe('the scan', () => {
  it('finds no difference on an idle host', async () => {
    expect(diffScans(before, await scanMachine(host))).toEqual([]);
  });

  it('finds every kind of change, and none once they are undone', async () => {
    await host.output(plant);
    const lines = diffScans(before, await scanMachine(host));
    for (const sign of planted) expect(lines.join('\n')).toMatch(sign);
    await host.output(unplant);
    expect(diffScans(before, await scanMachine(host))).toEqual([]);
  });
});

describe('power', () => {
  it('loss ends every process at once and keeps the files', async () => {
    await host.output('mkdir -p /var/lib/etcd/kept /etc/kept; nohup sleep 1000 >/dev/null 2>&1 & sync');
    await host.kill();
    expect((await listHosts(bed)).find(({ name }) => name === 'tb1')?.running).toBe(false);
    expect((await host.exec('true')).exitCode).toBe(255);
    await host.start();
    expect(await host.output('ls -d /etc/kept /var/lib/etcd/kept; pgrep -x sleep || echo none')).toBe(
      '/etc/kept\n/var/lib/etcd/kept\nnone',
    );
    await host.output('rmdir /var/lib/etcd/kept /etc/kept');
  });

  it('off and on again gives the same host', async () => {
    await host.stop();
    await host.start();
    // The kernel gives a link its own IPv6 address some time after it is up.
    await expect.poll(async () => diffScans(before, await scanMachine(host))).toEqual([]);
  });
});

describe('up', () => {
  it('clears what a killed run left, and only that', async () => {
    const script = `import { startHosts } from '${import.meta.dirname}/../testbed/index.ts';
      await startHosts(['tb2']); process.kill(process.pid, 'SIGKILL');`;
    await run([process.execPath, '--input-type=module', '-e', script], { timeout: 120, allowed: [-1] });
    expect((await listHosts(bed)).map(({ name }) => name)).toContain('tb2');
    await startHosts(['tb3']);
    const names = (await listHosts(bed)).map(({ name }) => name);
    expect(names).not.toContain('tb2');
    expect(names).toEqual(expect.arrayContaining(['tb1', 'tb3']));
    expect(await host.output('echo still here')).toBe('still here');
  });

  it('refuses the name of a host that is there to stay, running or off', async () => {
    const [kept] = await upHosts(bed, ['tb4'], { keep: true });
    if (kept === undefined) throw new Error('no host came up');
    await expect(startHosts(['tb4'])).rejects.toThrow('host tb4 is running: down tb4 first, or choose another name');
    await (await testHost(bed, kept)).kill();
    await expect(startHosts(['tb4'])).rejects.toThrow('host tb4 is there, switched off: start tb4, or down tb4 first');
  });

  it('gives the same name a fresh host, without the files of the last', async () => {
    await host.output('touch /etc/of-the-last');
    const [fresh] = await startHosts(['tb1']);
    if (fresh === undefined) throw new Error('no host came up');
    host = fresh;
    expect((await host.exec('ls /etc/of-the-last')).exitCode).not.toBe(0);
  });
});

describe('down', () => {
  it('leaves no process, cgroup, mount, bridge or table', async () => {
    const records = await listHosts(bed);
    const own = records.filter(({ name }) => name.startsWith('tb'));
    expect(own.length).toBeGreaterThan(0);
    await downHosts(
      bed,
      own.map(({ name }) => name),
    );
    expect(await pidsIn(own.flatMap(({ groups }) => groups))).toEqual([]);
    const { stdout: groups } = await run(['find', '/sys/fs/cgroup', '-path', `*/${bed.group}/tb*`]);
    expect(groups).toBe('');
    expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toMatch(`${bed.folder}/hosts/tb`);
    expect(await readdir('/sys/class/net')).not.toEqual(expect.arrayContaining([expect.stringMatching(/^vb-.*-tb\d/)]));
    if (records.length > own.length) return; // hosts of someone else still need the network
    expect(await readdir('/sys/class/net')).not.toContain(bed.bridge);
    expect((await run(['nft', 'list', 'tables'])).stdout).not.toContain(bed.table);
  });
});

/** One change of each kind that the scan looks at. */
const plant = `set -e
echo new >'/etc/new file'; chmod 600 /etc/hostname; chown 1:1 /etc/fstab; ln -s /nowhere /opt/link; mkdir /var/lib/bke
echo more >>/etc/bash.bashrc; mkdir /run/planted; cp -a /etc/*- /run/planted
printf '[Service]\\nExecStart=/bin/sleep 1001\\n[Install]\\nWantedBy=multi-user.target\\n' >/etc/systemd/system/planted.service
systemctl daemon-reload; systemctl enable -q --now planted.service
useradd --system planted; groupadd planted-too
sysctl -q -w net.ipv4.tcp_syncookies=0
ip link add planted0 type bridge; ip address add 10.99.0.1/24 dev planted0; ip link set planted0 up
ip route add 10.98.0.0/24 dev planted0; ip rule add from 10.97.0.1 table 42
iptables -A INPUT -s 10.96.0.1 -j DROP; ip6tables -A INPUT -s fd99::1 -j DROP; nft add table ip planted
mkdir /mnt/a; mount --bind /usr/share /mnt/a
mkdir -p /sys/fs/cgroup/memory/planted
nohup bash -c 'exec -a other tail -f /dev/null' >/dev/null 2>&1 &
`;

const unplant = `set -e
pkill -x tail
rmdir /sys/fs/cgroup/memory/planted
umount /mnt/a; rmdir /mnt/a
nft delete table ip planted; nft delete table ip filter; nft delete table ip6 filter
ip rule del from 10.97.0.1 table 42; ip link del planted0
sysctl -q -w net.ipv4.tcp_syncookies=1
userdel planted; groupdel planted-too
cp -a /run/planted/*- /etc/; rm -r /run/planted
systemctl disable -q --now planted.service; rm /etc/systemd/system/planted.service; systemctl daemon-reload
rm '/etc/new file' /opt/link; rmdir /var/lib/bke
chmod 644 /etc/hostname; chown 0:0 /etc/fstab; sed -i '$d' /etc/bash.bashrc
`;

const planted = [
  /^files: \+ \/etc\/new file \(file 644 0:0 4 bytes sha256:[0-9a-f]{64}\)$/m,
  /^files: ~ \/etc\/hostname: file 644 .* => file 600 /m,
  /^files: ~ \/etc\/fstab: file 644 0:0 .* => file 644 1:1 /m,
  /^files: \+ \/opt\/link \(link -> \/nowhere\)$/m,
  /^files: \+ \/var\/lib\/bke \(directory 755 0:0\)$/m,
  /^files: ~ \/etc\/bash\.bashrc: .*sha256:[0-9a-f]{64} => .*sha256:[0-9a-f]{64}$/m,
  /^run: \+ \/run\/planted /m,
  /^unit files: \+ planted\.service \(enabled\)$/m,
  /^units: \+ planted\.service \(loaded active running\)$/m,
  /^users: \+ planted /m,
  /^groups: \+ planted-too /m,
  /^sysctl: ~ net\.ipv4\.tcp_syncookies: 1 => 0$/m,
  /^links: \+ planted0 \(bridge /m,
  /^addresses: \+ 10\.99\.0\.1\/24 dev planted0 /m,
  /^routes: \+ ip4 10\.98\.0\.0\/24 dev planted0 /m,
  /^rules: \+ .*from 10\.97\.0\.1 lookup 42/m,
  /^firewall: \+ iptables-nft-save -A INPUT -s 10\.96\.0\.1\/32 -j DROP/m,
  /^firewall: \+ ip6tables-nft-save -A INPUT -s fd99::1\/128 -j DROP/m,
  /^firewall: \+ nft table ip planted/m,
  /^mounts: \+ \/mnt\/a /m,
  /^cgroups: \+ memory\/planted /m,
  /^processes: \+ \/usr\/bin\/tail /m,
  /^processes: \+ \/usr\/bin\/sleep /m,
];
