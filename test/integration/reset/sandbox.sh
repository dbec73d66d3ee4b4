#!/bin/bash
# Makes a machine of its own out of this one and runs a script on it: a writable copy of the root file system, own mounts,
# network, processes and control groups. Nothing in it reaches the real machine. Usage: sandbox.sh SCRIPT (on stdin: nothing)
set -eu
script=$1
base=/sys/fs/cgroup/pids
group=$base/bke-sandbox-$$
# What killed runs left.
for old in "$base"/bke-sandbox-*; do
  [ -d "$old" ] && ! [ -d "/proc/${old##*-}" ] && find "$old" -depth -type d -exec rmdir {} + 2>/dev/null || true
done
mkdir "$group"
trap 'for i in 1 2 3 4 5; do find "$group" -depth -type d -exec rmdir {} + 2>/dev/null && break; sleep 0.2; done' EXIT
repository=$(cd "$(dirname "$0")/../../.." && pwd -P)
export BKE_SANDBOX_GROUP=$group BKE_SANDBOX_SCRIPT=$script BKE_SANDBOX_NODE=$(dirname "$(readlink -f "$(command -v node)")")
export BKE_SANDBOX_REPOSITORY=$repository BKE_SANDBOX_MODULES=$(readlink -f "$repository/node_modules")
( echo "$BASHPID" > "$group/cgroup.procs"
  exec unshare --mount --net --pid --fork --uts --ipc --cgroup --kill-child --propagation private bash -euc '
    work=/mnt; mount -t tmpfs -o size=2g sandbox $work
    mkdir -p $work/upper $work/work $work/root $work/empty/etc $work/empty/var/log $work/empty/var/lib
    # Copies of what tests beside this one write to (accounts come and go), since those in it compare every file there. /var/lib, to which bke is
    # brought over SSH, can be large and is needed by nothing here: it is empty.
    # A directory made anew on an overlay hides what lies below it in the next one, too.
    mount -t overlay -o lowerdir=$work/empty,upperdir=$work/upper,workdir=$work/work overlay $work/root
    rmdir $work/root/etc $work/root/var/log $work/root/var/lib
    mkdir $work/root/etc $work/root/var/log $work/root/var/lib
    umount $work/root
    # What is gone before cp comes to it was there for a moment only.
    cp -a /etc/. $work/upper/etc 2>/dev/null || true
    cp -a /var/log/. $work/upper/var/log 2>/dev/null || true
    rm -f $work/upper/etc/*.lock
    mount -t overlay -o lowerdir=/,upperdir=$work/upper,workdir=$work/work overlay $work/root
    root=$work/root
    mount -t proc proc $root/proc
    mount -t sysfs sysfs $root/sys
    mount -t tmpfs cgroup $root/sys/fs/cgroup
    mkdir $root/sys/fs/cgroup/pids
    mount -t cgroup -o pids cgroup $root/sys/fs/cgroup/pids
    mount --rbind /dev $root/dev
    mount -t tmpfs run $root/run
    mount -t tmpfs tmp $root/tmp
    # A checkout below /tmp or /run, or on a file system of its own, is not in the copy: it is shown read-only.
    for shown in "$BKE_SANDBOX_REPOSITORY" "$BKE_SANDBOX_MODULES" "$BKE_SANDBOX_NODE"; do
      [ -z "$(ls -A "$root$shown" 2>/dev/null)" ] || continue
      mkdir -p "$root$shown"
      mount --bind "$shown" "$root$shown"
      mount -o remount,bind,ro "$root$shown"
    done
    mkdir -p $root/.old
    cd $root
    pivot_root . .old
    cd /
    umount -l /.old
    rmdir /.old
    rm -rf /var/lib/bke /var/lib/bke-kept /var/lib/kubelet /var/lib/etcd /var/lib/cni /etc/cni /etc/kubernetes /opt/cni /etc/bke
    mkdir -p /run/lock
    hostname sandbox
    ip link set lo up
    export PATH=$BKE_SANDBOX_NODE:$PATH
    # Process 1 only waits, so that what the script starts has a parent to fall to.
    bash -c "$BKE_SANDBOX_SCRIPT"
  ' )
