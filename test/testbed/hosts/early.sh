#!/bin/sh
# Runs first in every boot of a host: makes a container look like a machine of its own.
set -eu

mount --make-rshared /
for folder in /sys/fs/cgroup /sys/fs/cgroup/* /proc/sys /proc/sys/net; do
  if mountpoint -q "$folder"; then
    mount -o remount,rw,bind "$folder"
  fi
done

# One kernel serves all hosts and the machine under them: a host gets private files over the settings that are
# everybody's, with the values the machine has. What is below net is the host's own and stays real.
# Not shared, or each mount would appear a second time below the /proc under it.
mount --make-private /proc/sys
private=/run/testbed/sysctl
mkdir -p "$private"
for name in \
  kernel/panic kernel/panic_on_oops kernel/pid_max kernel/threads-max \
  kernel/keys/root_maxkeys kernel/keys/root_maxbytes kernel/keys/maxkeys kernel/keys/maxbytes \
  vm/overcommit_memory vm/panic_on_oom vm/swappiness vm/max_map_count vm/min_free_kbytes \
  fs/file-max fs/nr_open fs/aio-max-nr fs/inotify/max_user_instances fs/inotify/max_user_watches \
  fs/inotify/max_queued_events; do
  if [ -f "/proc/sys/$name" ]; then
    copy="$private/$(echo "$name" | tr / .)"
    cat "/proc/sys/$name" >"$copy"
    mount --bind "$copy" "/proc/sys/$name"
  fi
done
