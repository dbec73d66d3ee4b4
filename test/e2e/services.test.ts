// `bke init` on real hosts with systemd, from a real bundle: the local services, their content, repeats, crashes and refusals.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type EgressSink, egressSink, stopHosts } from '../testbed/index.ts';
import { type BkeHost, bkeHost, initOptions, outcome } from './helpers/bke-host.ts';
import { type Answer, ask, sha256 } from './helpers/https.ts';

const statusList = z.object({
  bundle: z.object({ signature: z.string() }),
  items: z.array(
    z.object({
      name: z.string(),
      state: z.string(),
      version: z.string(),
      address: z.string(),
      dataBytes: z.number(),
      since: z.string(),
    }),
  ),
});
const finished = z.object({ type: z.literal('operation.finished'), outcome: z.string(), changed: z.boolean() });

/** Files, directories and links that init makes, with mode, owner and size; secrets and certificates differ from install to install. */
const madeByInit = `find /etc/bke /etc/containerd /etc/crictl.yaml /etc/sysctl.d /etc/systemd/system /usr/local /opt/cni \
  /var/lib/bke/pki /var/lib/bke/services -xdev -printf '%y %m %U:%G %p\\n' | grep -v /docker/registry/v2/repositories/.*/_uploads | sort`;

async function lastEvent(host: BkeHost, words: string): Promise<z.infer<typeof finished>> {
  const result = await host.bke(`${words} -o json`);
  return finished.parse(JSON.parse(result.stdout.trim().split('\n').at(-1) ?? ''));
}

afterAll(() => stopHosts());

describe('bke init on a fresh host', () => {
  let boot: BkeHost;
  let ca: string;
  let sink: EgressSink;

  beforeAll(async () => {
    boot = await bkeHost('boot');
    sink = await egressSink();
  });

  const at = (
    port: number,
    path: string,
    more: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> => ask({ address: boot.address, port, path, ca, ...more });

  it('is not initialised before, and says so', async () => {
    const result = await boot.bke('status');
    expect([result.exitCode, result.stdout]).toEqual([0, '']);
    expect(result.stderr).toContain('This host is not initialised');
  });

  it('refuses with all problems at once, and has changed nothing then', async () => {
    const before = await boot.output('find / -xdev -newermt "@$(date +%s)" 2>/dev/null; ls -A /var/lib /etc');
    await boot.output(
      'printf "[Unit]\\n[Service]\\nExecStart=/bin/sleep infinity\\n" > /etc/systemd/system/docker.service; systemctl daemon-reload; systemctl start docker; ' +
        'systemd-run --unit=busy socat TCP-LISTEN:40443,fork /dev/null; sleep 1',
    );
    const result = await boot.bke(`init ${initOptions} --yes`);
    expect(result.exitCode).toBe(4);
    expect(result.stderr).toMatch(/ports: port 40443 \(image registry\) is in use by socat \(pid \d+\)/);
    expect(result.stderr).toContain('container-runtime: docker.service (active) is not of bke');
    expect(await boot.output('systemctl is-active docker busy')).toBe('active\nactive');
    await boot.output(
      'systemctl stop busy docker; rm /etc/systemd/system/docker.service; systemctl daemon-reload; systemctl reset-failed || true',
    );
    expect(before.endsWith(await boot.output('ls -A /var/lib /etc'))).toBe(true);
  });

  it('counts the room on the disk before it fills it', async () => {
    await boot.output('mkdir /data && mount -t tmpfs -o size=50m small /data');
    const result = await boot.bke(`init ${initOptions} --data-dir /data/bke --yes`);
    expect(result.exitCode).toBe(4);
    expect(result.stderr).toMatch(
      /disk-space: \/data has .* free, and .* \(\d+ bytes\) are needed: the bundle in \/data\/bke/,
    );
    expect(await boot.output('ls -A /data; umount /data; rmdir /data')).toBe('');
  });

  it('needs a bundle that is trusted, and asks before it does anything', async () => {
    const untrusted = await boot.bke('init --bundle /root/bundle.tar --yes');
    expect([untrusted.exitCode, untrusted.stderr]).toEqual([3, expect.stringContaining('BKE_BUNDLE_UNTRUSTED')]);
    const unasked = await boot.bke(`init ${initOptions}`);
    expect([unasked.exitCode, unasked.stderr]).toEqual([2, expect.stringContaining('--yes')]);
    expect(await boot.output('ls -d /var/lib/bke /etc/bke 2>/dev/null || echo nothing')).toBe('nothing');
  });

  it('plans without a trace', async () => {
    const result = await boot.bke(`init ${initOptions} --dry-run`);
    expect(result.exitCode, outcome(result)).toBe(0);
    expect(result.stdout + result.stderr).toContain('create unit bke-registry.service');
    expect(await boot.output('ls -d /var/lib/bke /etc/bke 2>/dev/null || echo nothing')).toBe('nothing');
  });

  it('sets everything up', async () => {
    const result = await boot.bke(`init ${initOptions} --yes`);
    expect(result.exitCode, outcome(result)).toBe(0);
    ca = await readFile(join(boot.root, 'etc/bke/site-ca.crt'), 'utf8');
  });

  it('tells the state of each service', async () => {
    const result = await boot.bke('status -o json');
    const { items, bundle } = statusList.parse(JSON.parse(result.stdout));
    expect(bundle.signature).toBe('trusted');
    expect(items.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'registry healthy',
      'registry-push healthy',
      'files healthy',
      'charts healthy',
      'containerd healthy',
    ]);
    expect(items.map(({ version }) => version).every((version) => /^v?\d+\.\d+/.test(version))).toBe(true);
    expect(items.find(({ name }) => name === 'files')?.dataBytes).toBeGreaterThan(50_000_000);
    expect(result.exitCode).toBe(0);
  });

  it('serves images to everybody and takes pushes from nobody else', async () => {
    expect((await at(40_443, '/v2/')).status).toBe(200);
    const headers = { accept: 'application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json' };
    const tags = await at(40_443, '/v2/registry.k8s.io/pause/tags/list');
    expect(tags.status).toBe(200);
    const [tag] = z.object({ tags: z.array(z.string()) }).parse(JSON.parse(tags.body.toString())).tags;
    const manifest = await at(40_443, `/v2/registry.k8s.io/pause/manifests/${tag ?? ''}`, { headers });
    expect(manifest.headers['docker-content-digest']).toBe(`sha256:${sha256(manifest.body)}`);
    expect((await at(40_443, '/v2/x/blobs/uploads/', { method: 'POST' })).status).toBe(405);
    await expect(at(40_444, '/v2/')).rejects.toThrow('ECONNREFUSED');
  });

  it('serves files whole, in part, and not again where they are known', async () => {
    const [path = ''] = (await boot.output('cd /var/lib/bke/services/files && find . -type f -name runc')).split('\n');
    const url = path.replace('.', '');
    const digest = (await boot.output(`sha256sum /var/lib/bke/services/files${url}`)).split(' ')[0] ?? '';
    const whole = await at(40_080, url);
    expect([whole.status, sha256(whole.body)]).toEqual([200, digest]);
    expect(whole.headers.etag).toContain(digest);
    const part = await at(40_080, url, { headers: { range: 'bytes=10-19' } });
    expect([part.status, part.body]).toEqual([206, whole.body.subarray(10, 20)]);
    expect((await at(40_080, url, { headers: { 'if-none-match': String(whole.headers.etag) } })).status).toBe(304);
    expect((await at(40_080, '/../etc/bke/services/tls.key')).status).not.toBe(200);
  });

  it('serves charts with an index that is right', async () => {
    const index = await at(38_080, '/index.yaml');
    const { parse } = await import('yaml');
    const entry = z.object({ urls: z.array(z.string()), digest: z.string() });
    const { entries } = z.object({ entries: z.record(z.string(), z.array(entry)) }).parse(parse(index.body.toString()));
    const [chart] = Object.values(entries).flat();
    const got = await at(38_080, `/${chart?.urls[0] ?? ''}`);
    expect([got.status, sha256(got.body)]).toEqual([200, chart?.digest]);
  });

  it('pulled an image by its public name, from nowhere else', async () => {
    expect(await boot.output('crictl images -o json')).toContain('registry.k8s.io/pause');
    expect(await sink.attempts()).toEqual([]);
  });

  it('runs the services as their own user, who can read no key but theirs', async () => {
    const users = await boot.output(
      'ps -o user= -p $(systemctl show -p MainPID --value bke-registry bke-registry-push bke-files | grep . | paste -sd,)',
    );
    expect(users.split('\n').map((user) => user.trim())).toEqual(['bke', 'bke', 'bke']);
    expect(
      (await boot.exec('setpriv --reuid=bke --regid=bke --clear-groups cat /var/lib/bke/pki/site-ca.key')).exitCode,
    ).not.toBe(0);
    expect(
      (await boot.exec('setpriv --reuid=bke --regid=bke --clear-groups test -w /var/lib/bke/services/files')).exitCode,
    ).not.toBe(0);
  });

  it('keeps its passwords out of logs, ledger, journals and process lists', async () => {
    const password = (await boot.output('cat /var/lib/bke/pki/registry-push.password')).trim();
    const found = await boot.exec(
      `grep -rlF -- '${password}' /var/lib/bke/ledger /var/lib/bke/operations /var/log /etc 2>/dev/null; journalctl --no-pager | grep -cF -- '${password}'; ps -ef | grep -F -- '${password}' | grep -v -e grep -e 'bash -c'`,
    );
    expect(found.stdout.trim()).toBe('0');
  });

  it('has nothing to do when it is run again', async () => {
    expect(await lastEvent(boot, `init ${initOptions} --yes`)).toMatchObject({ outcome: 'done', changed: false });
    expect((await boot.bke('init --yes')).stderr).toContain('Nothing to do.');
  });

  it('puts right what somebody changed, without the bundle', async () => {
    await boot.output(
      'systemctl stop bke-registry; rm /etc/systemd/system/bke-files.service; systemctl daemon-reload; echo "#" >> /etc/containerd/config.toml',
    );
    expect((await boot.bke('status')).exitCode).toBe(1);
    expect(await lastEvent(boot, 'init --yes')).toMatchObject({ outcome: 'done', changed: true });
    expect((await boot.bke('status')).exitCode).toBe(0);
    expect(await lastEvent(boot, 'init --yes')).toMatchObject({ changed: false });
  });

  const stateOf = async (name: string): Promise<string> => {
    const { items } = statusList.parse(JSON.parse((await boot.bke('status -o json')).stdout));
    return items.find((item) => item.name === name)?.state ?? 'not there';
  };
  const store = '/var/lib/bke/services/registry/docker';

  it('sees that the store of images was emptied, says so without the bundle, and fills it again with it', async () => {
    await boot.output(`rm -rf ${store}`);
    expect((await boot.bke('status')).exitCode).toBe(1);
    expect(await stateOf('registry')).toBe('incomplete');
    const without = await boot.bke('init --yes');
    expect([without.exitCode, without.stderr]).toEqual([3, expect.stringContaining('BKE_BUNDLE_NEEDED')]);
    expect(without.stderr).toContain('registry.k8s.io/pause');
    expect(await lastEvent(boot, `init ${initOptions} --yes`)).toMatchObject({ outcome: 'done', changed: true });
    expect([await stateOf('registry'), (await boot.bke('status')).exitCode]).toEqual(['healthy', 0]);
    await boot.output(
      'crictl rmi registry.k8s.io/pause:$(ls /var/lib/bke/services/registry/docker/registry/v2/repositories/registry.k8s.io/pause/_manifests/tags | head -1)',
    );
    expect(await lastEvent(boot, 'init --yes')).toMatchObject({ outcome: 'done', changed: true });
  });

  it('replaces a blob that was emptied', async () => {
    const blob = await boot.output(`find ${store}/registry/v2/blobs -name data -printf '%s %p\\n' | sort -n | tail -1`);
    const path = blob.split(' ')[1] ?? '';
    await boot.output(`truncate -s 0 ${path}`);
    expect(await stateOf('registry')).toBe('incomplete');
    expect((await boot.bke('init --yes')).exitCode).toBe(3);
    expect(await lastEvent(boot, `init ${initOptions} --yes`)).toMatchObject({ outcome: 'done', changed: true });
    expect(await boot.output(`sha256sum ${path} | cut -c1-64`)).toBe(path.split('/').at(-2));
    expect(await lastEvent(boot, `init ${initOptions} --yes`)).toMatchObject({ outcome: 'done', changed: false });
  });

  it('names a file that is gone', async () => {
    await boot.output('rm -rf /var/lib/bke/services/files/runc');
    expect(await stateOf('files')).toBe('incomplete');
    const without = await boot.bke('init --yes');
    expect([without.exitCode, without.stderr]).toEqual([3, expect.stringContaining('files/runc/')]);
    expect(await lastEvent(boot, `init ${initOptions} --yes`)).toMatchObject({ outcome: 'done', changed: true });
    expect(await stateOf('files')).toBe('healthy');
  });

  it('tells secrets that are gone while everything still runs, and makes them again', async () => {
    await boot.output('rm /var/lib/bke/pki/registry-push.password /etc/bke/services/tls.crt');
    expect([await stateOf('registry-push'), await stateOf('files')]).toEqual(['incomplete', 'incomplete']);
    expect((await boot.bke('init --yes')).exitCode).toBe(0);
    expect((await boot.bke('status')).exitCode).toBe(0);
  });

  it('says at once that a program is gone', async () => {
    await boot.output('mv /usr/local/libexec/bke/bke-* /root/ && bke stop');
    const started = await boot.bke('start');
    expect(started.exitCode).not.toBe(0);
    expect(started.stderr).toMatch(/bke-files\.service cannot start: \/usr\/local\/libexec\/bke\/\S+ is not there/);
    expect((await boot.bke('init --yes')).exitCode).toBe(0);
    expect((await boot.bke('status')).exitCode).toBe(0);
  });

  it('stops and starts', async () => {
    expect((await boot.bke('stop')).exitCode).toBe(0);
    const stopped = await boot.bke('status');
    expect([stopped.exitCode, stopped.stdout]).toEqual([1, expect.stringContaining('stopped')]);
    expect((await boot.bke('start')).exitCode).toBe(0);
    expect((await boot.bke('status')).exitCode).toBe(0);
  });

  it('stands again after a power loss', async () => {
    await boot.kill();
    await boot.start();
    const deadline = Date.now() + 60_000;
    let last = await boot.bke('status');
    while (last.exitCode !== 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      last = await boot.bke('status');
    }
    expect(last.exitCode, outcome(last)).toBe(0);
  });
});

/** Moments of a run, as parts of its events: time would depend on what else the machine does. */
const moments = (process.env['BKE_SOAK'] === '1' ? Array.from({ length: 20 }, (_, seed) => seed + 1) : [29]).map(
  (seed) => Math.round(((seed * 0.618_034) % 1) * 950) / 1000,
);

describe('bke init that is killed', () => {
  let wanted: string;
  let events: number;

  beforeAll(async () => {
    const clean = await bkeHost('clean');
    const result = await clean.bke(`init ${initOptions} --yes -o json`);
    expect(result.exitCode, outcome(result)).toBe(0);
    events = result.stdout.trim().split('\n').length;
    wanted = await clean.output(madeByInit);
    await clean.stop();
  });

  it.each(moments)(
    'after %f of it converges when it is run again, to what a clean run makes, whatever the umask',
    async (part) => {
      const host = await bkeHost('killed');
      const moment = Math.ceil(events * part);
      const killed = await host.exec(
        `umask 077; bke init ${initOptions} --yes -o json >/tmp/events 2>/dev/null & ` +
          `while [ $(wc -l </tmp/events) -lt ${moment} ] && kill -0 $!; do sleep 0.02; done; kill -9 $!; wait $!; echo $?`,
      );
      // A run that came to its end first was not killed.
      expect(killed.stdout.trim()).toBe('137');
      const again = await host.exec(`umask 077; bke init ${initOptions} --yes`);
      expect(again.exitCode, outcome(again)).toBe(0);
      expect((await host.bke('status')).exitCode).toBe(0);
      expect(await lastEvent(host, 'init --yes')).toMatchObject({ changed: false });
      expect(await host.output(madeByInit)).toEqual(wanted);
    },
  );
});
