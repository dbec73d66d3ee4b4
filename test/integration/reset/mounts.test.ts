// Nothing behind a mount is ever deleted by a reset, by none of the ways in which tools lost data before (docs/adr/0005-tree-removal.md).
import { describe, expect, it } from 'vitest';
import { inSandbox, whyNoSandbox } from './sandbox.ts';

const no = whyNoSandbox();
if (no !== undefined) process.stderr.write(`reset/mounts skipped: ${no}\n`);

const kubelet = '/var/lib/kubelet';
const volume = `${kubelet}/pods/u1/volumes/kubernetes.io~nfs/v1`;

/** Next to what must survive, always something that must go. */
const plant = `
mkdir -p /srv/keep ${kubelet}/pods/u2
echo canary > /srv/keep/c
echo x > ${kubelet}/pods/u2/f
`;
const look = `
tell canary "$(cat /srv/keep/c 2>/dev/null)"
there other ${kubelet}/pods/u2/f
there folder ${kubelet}
tell mounts "$(grep -c ' ${kubelet}/' /proc/self/mountinfo)"
`;
const clean = { canary: 'canary', other: 'gone', folder: 'gone', mounts: '0' };

const variants: Record<string, string> = {
  'a bind mount': `mkdir -p ${volume}; mount --bind /srv/keep ${volume}`,
  'a bind mount under a CSI plugin': `p=${kubelet}/plugins/kubernetes.io/csi/x/globalmount; mkdir -p $p; mount --bind /srv/keep $p`,
  'a tmpfs': `mkdir -p ${volume}; mount -t tmpfs tmpfs ${volume}; echo y > ${volume}/y`,
  'an overlay': `mkdir -p ${volume} /srv/lower /mnt/o; mount -t tmpfs o /mnt/o; mkdir /mnt/o/u /mnt/o/w; mount -t overlay -o lowerdir=/srv/keep,upperdir=/mnt/o/u,workdir=/mnt/o/w overlay ${volume}`,
  'a name with a space, a tab and a backslash': `p="${kubelet}/pods/u1/a b	c\\\\d"; mkdir -p "$p"; mount --bind /srv/keep "$p"`,
  'the same place twice': `mkdir -p ${volume}; mount --bind /srv/keep ${volume}; mount --bind /srv/keep ${volume}`,
  'a mount on a mount': `mkdir -p ${volume} /srv/keep/in /srv/deep; echo canary > /srv/deep/c; mount --bind /srv/keep ${volume}; mount --bind /srv/deep ${volume}/in`,
  '300 mounts': `for i in $(seq 300); do mkdir -p ${kubelet}/pods/m$i/v; mount --bind /srv/keep ${kubelet}/pods/m$i/v; done`,
  'a mount over the folder of others': `mkdir -p ${volume} /srv/over/u1; mount --bind /srv/keep ${volume}; mount --bind /srv/over ${kubelet}/pods`,
};

describe.skipIf(no !== undefined)('reset with mounts below the kubelet directory', () => {
  it.each(Object.entries(variants))(
    'unmounts %s, keeps what is behind it and removes the rest',
    async (_name, mount) => {
      const { told, stderr } = await inSandbox(`${plant}${mount}\nreset\n${look}reset\n`);
      expect(told, stderr).toMatchObject({ ...clean, rc1: '0', rc2: '0' });
    },
  );

  it("leaves the user's own mounts in place where theirs are copied below the kubelet with shared propagation", async () => {
    const { told, stderr } = await inSandbox(`${plant}
mkdir -p /srv/shared /srv/disk ${volume}
mount --bind /srv/shared /srv/shared; mount --make-shared /srv/shared
mkdir -p /srv/shared/sub; mount --bind /srv/keep /srv/shared/sub
mount --rbind /srv/shared ${volume}
tell before "$(grep -c ' ${kubelet}/' /proc/self/mountinfo)"
reset
${look}
mounted original /srv/shared/sub`);
    expect(told, stderr).toMatchObject({ ...clean, before: '2', rc1: '0', original: 'mounted' });
  });

  it('stops at a mount that a process holds: names both, fails, lets the process live, deletes nothing behind it', async () => {
    const { told, stderr } = await inSandbox(`${plant}
mkdir -p "${volume}"; mount --bind /srv/keep "${volume}"; echo beside > ${kubelet}/pods/u1/beside
(cd "${volume}" && exec sleep 1000) & holder=$!
sleep 0.2
reset
tell canary "$(cat /srv/keep/c)"
there other ${kubelet}/pods/u2/f
mounted volume ${volume}
kill -0 $holder && tell holder alive
tell named "$(grep -c "${volume}: still mounted: process $holder (sleep) has it as its working directory" /tmp/out)"
kill $holder; wait $holder 2>/dev/null
reset
${look}`);
    expect(told, stderr).toMatchObject({ ...clean, rc1: '1', rc2: '0', volume: 'mounted', holder: 'alive' });
    expect(Number(told['named']), stderr).toBeGreaterThan(0);
  });

  it('keeps a kubelet directory that is a disk of its own, and empties it', async () => {
    const { told, stderr } = await inSandbox(`
mkdir -p /srv/disk ${kubelet} /srv/keep; echo canary > /srv/keep/c
mount --bind /srv/disk ${kubelet}
mkdir -p ${volume} ${kubelet}/pods/u2; echo x > ${kubelet}/pods/u2/f
mount --bind /srv/keep ${volume}
reset
tell canary "$(cat /srv/keep/c)"
mounted disk ${kubelet}
tell inside "$(ls -A ${kubelet})"
reset`);
    expect(told, stderr).toMatchObject({ canary: 'canary', disk: 'mounted', inside: '', rc1: '0', rc2: '0' });
  });

  it('follows a kubelet directory that was moved by a link, and keeps the link', async () => {
    const { told, stderr } = await inSandbox(`
mkdir -p /data/kubelet/pods/u1/v /data/mine /srv/keep; echo canary > /srv/keep/c; echo mine > /data/mine/m
ln -s /data/kubelet ${kubelet}
mount --bind /srv/keep /data/kubelet/pods/u1/v
reset
tell canary "$(cat /srv/keep/c)"
tell mine "$(cat /data/mine/m)"
there pods /data/kubelet/pods
tell mounts "$(grep -c ' /data/' /proc/self/mountinfo)"
tell link "$(readlink ${kubelet})"
reset`);
    expect(told, stderr).toMatchObject({
      canary: 'canary',
      mine: 'mine',
      pods: 'gone',
      mounts: '0',
      link: '/data/kubelet',
    });
    expect([told['rc1'], told['rc2']], stderr).toEqual(['0', '0']);
  });

  it('leaves a mount that was there before bke also when an earlier reset has undone what is recorded of it', async () => {
    const services = { kind: 'file', path: '/etc/bke/x', mode: 0o644, content: { text: 'x' } };
    const { told, stderr } = await inSandbox(`p="${kubelet}/my data"; mkdir -p /srv/keep "$p"; echo canary > /srv/keep/c
mount --bind /srv/keep "$p"
record bootstrap-cluster '{"kind":"zone","path":"${kubelet}"}'
record services '${JSON.stringify(services)}'
echo x > ${kubelet}/config.yaml
bke reset --yes > /tmp/first 2>&1; cat /tmp/first >&2
there other ${kubelet}/config.yaml
there services /etc/bke/x
mounted first "$p"
reset
mounted second "$p"
tell canary "$(cat "$p/c")"`);
    expect(told, stderr).toMatchObject({
      other: 'gone',
      services: 'there',
      first: 'mounted',
      second: 'mounted',
      canary: 'canary',
      rc1: '0',
    });
  });

  it('does not unmount what /etc/fstab mounts, and says that it stays', async () => {
    const { told, stderr } = await inSandbox(`${plant}
p="${kubelet}/pods/user data"; mkdir -p "$p"; mount --bind /srv/keep "$p"
printf '/srv/keep ${kubelet}/pods/user\\\\040data none bind 0 0\\n' >> /etc/fstab
reset
tell canary "$(cat /srv/keep/c)"
there other ${kubelet}/pods/u2/f
mounted own "$p"
grep -q "user data in it is yours" /tmp/out && tell named yes`);
    expect(told, stderr).toMatchObject({ canary: 'canary', other: 'gone', own: 'mounted', rc1: '1', named: 'yes' });
  });
});
