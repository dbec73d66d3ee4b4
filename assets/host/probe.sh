# What this machine is: printed as one JSON array of "key:line" texts, ended by "end:". Run by bke as root, once per host; POSIX sh only.
# It reads, and changes nothing: no module is loaded, no table is created, no file is written. Whatever could hang has a bound.
# Arguments: the paths whose disks are wanted. BKE_MODULES, BKE_TOOLS: names to look for, separated by spaces.
exec 2>/dev/null
umask 077

have() { command -v "$1" >/dev/null; }
if have timeout; then bound() { timeout 5 "$@"; }; else bound() { "$@"; }; fi

say() { printf '%s:%s\n' "$1" "$2"; }
# Lines of standard input, at most 500, each under the key. The last one may lack its end, as in files written by hand: sed would glue it to what follows.
under() { awk -v key="$1" 'NR > 500 { exit } { print key ":" $0 }'; }
file() { [ -r "$2" ] && under "$1" <"$2"; }
# The first line of a file; not by read, which takes byte after byte: some files of /proc/sys end after the first one then.
first() {
  [ -r "$2" ] || return 0
  line=$(head -n 1 "$2")
  [ -n "$line" ] && say "$1" "$line"
}

now() {
  stamp=$(date +%s%N)
  case $stamp in *[!0-9]* | ??????????) stamp="$(date +%s)000000000" ;; esac
  say "$1" "$stamp"
}

system() {
  first hostname /proc/sys/kernel/hostname
  first machineId /etc/machine-id
  first bootId /proc/sys/kernel/random/boot_id
  file os /etc/os-release || file os /usr/lib/os-release
  say arch "$(uname -m)"
  say kernel "$(uname -r)"
  say uid "$(id -u)"
  say libc "$(getconf GNU_LIBC_VERSION || ldd --version 2>&1 | head -n 1)"
  for library in /usr/lib64/libstdc++.so.6 /lib64/libstdc++.so.6 /usr/lib/*-linux-gnu*/libstdc++.so.6 /usr/lib/libstdc++.so.6; do
    [ -e "$library" ] || continue
    say libstdcxx "$(readlink -f "$library")"
    grep -ao 'GLIBCXX_3\.4\.[0-9]*' "$library" | sort -u | under glibcxx
    break
  done
  first init /proc/1/comm
  have systemctl && systemctl --version | head -n 1 | under systemd
  [ -d /run/systemd/system ] && say systemdRunning yes
  have systemd-detect-virt && say virtualization "$(bound systemd-detect-virt)"
  say cpus "$(getconf _NPROCESSORS_ONLN || grep -c ^processor /proc/cpuinfo)"
  grep -E '^(MemTotal|MemAvailable):' /proc/meminfo | under memory
  file swap /proc/swaps
}

disk() {
  existing=$1
  while [ ! -e "$existing" ] && [ "$existing" != / ]; do
    parent=${existing%/*}
    existing=${parent:-/}
  done
  blocks=$(bound df -Pk "$existing" | tail -n 1)
  inodes=$(bound df -Pi "$existing" | tail -n 1)
  [ -n "$blocks" ] || return 0
  say disk "$1"
  say diskBlocks "$blocks"
  say diskInodes "$inodes"
  say diskType "$(bound stat -f -c %T "$existing")"
  [ -w "$existing" ] || say diskReadOnly "$1"
}

kernel() {
  say cgroup "$(stat -f -c %T /sys/fs/cgroup)"
  [ -d /sys/fs/cgroup/unified ] && say cgroup hybrid
  if [ -r /sys/fs/cgroup/cgroup.controllers ]; then file controllers /sys/fs/cgroup/cgroup.controllers
  else sed -n '1d; s/[[:space:]].*[[:space:]]1$//p' /proc/cgroups | under controllers; fi
  release=$(uname -r)
  for name in $BKE_MODULES; do
    pattern=$(printf '%s' "$name" | sed 's/[-_]/[-_]/g')
    if [ -d "/sys/module/$(printf '%s' "$name" | tr - _)" ]; then state=loaded
    elif grep -q "/$pattern\.ko" "/lib/modules/$release/modules.builtin"; then state=builtin
    elif grep -q "/$pattern\.ko" "/lib/modules/$release/modules.dep"; then state=available
    elif [ -d "/lib/modules/$release" ]; then state=missing
    else state=unknown; fi
    say module "$name $state"
  done
  sed 's/^nodev//; s/^[[:space:]]*//' /proc/filesystems | under filesystem
  for name in net/ipv4/ip_forward net/bridge/bridge-nf-call-iptables net/ipv6/conf/all/disable_ipv6 \
    fs/inotify/max_user_instances fs/inotify/max_user_watches vm/overcommit_memory user/max_user_namespaces kernel/pid_max; do
    first "sysctl:$name" "/proc/sys/$name"
  done
}

network() {
  if have ip; then
    ip -o addr show | under address
    ip -o link show | under link
    ip route show table main | under route
    ip -6 route show table main | under route
  else
    sed 1d /proc/net/route | under procRoute
  fi
  if have ss; then bound ss -ltunp | under socket
  else
    for name in tcp tcp6; do [ -r "/proc/net/$name" ] && sed 1d "/proc/net/$name" | under "procSocket:$name"; done
  fi
  file resolv /etc/resolv.conf
  say resolvFile "$(readlink -f /etc/resolv.conf)"
  if [ -r /run/systemd/resolve/resolv.conf ]; then
    say resolvUpstream /run/systemd/resolve/resolv.conf
    file resolvUpstreamLine /run/systemd/resolve/resolv.conf
  fi
  name=$(cat /proc/sys/kernel/hostname)
  bound getent hosts "$name" | under hostnameAddress
  for place in /etc/environment /etc/profile /etc/profile.d/* /etc/systemd/system.conf /etc/systemd/system.conf.d/*; do
    [ -f "$place" ] && grep -iE '(https?|all|ftp|no)_proxy' "$place" | grep -v '^[[:space:]]*#' | sed 's|//[^/@]*@|//***@|g' | under "proxy:$place"
  done
}

services() {
  if have systemctl && [ -d /run/systemd/system ]; then
    bound systemctl show --property=Id,LoadState,ActiveState,UnitFileState \
      containerd.service docker.service crio.service kubelet.service k3s.service k3s-agent.service rke2-server.service rke2-agent.service etcd.service \
      firewalld.service ufw.service nftables.service iptables.service apparmor.service \
      systemd-timesyncd.service chronyd.service chrony.service ntpd.service ntp.service ntpsec.service openntpd.service \
      systemd-resolved.service bke-agent.service bke-registry.service bke-registry-push.service bke-files.service | under unit
# timedatectl would tell more, but starts a service of its own for that (systemd-timedated).
    [ -e /run/systemd/timesync/synchronized ] && say synchronized yes
  fi
  for place in /proc/[0-9]*; do
    IFS= read -r name <"$place/comm" || continue
    case $name in
      containerd | dockerd | crio | kubelet | k3s* | rke2* | etcd | kube-apiserver | kube-controller | kube-scheduler | kube-proxy | flanneld | calico-node | chronyd | ntpd | bke)
        say process "${place#/proc/} $name" ;;
    esac
  done
  for place in /etc/kubernetes /etc/kubernetes/manifests /etc/kubernetes/admin.conf /etc/kubernetes/kubelet.conf /etc/kubernetes/pki /var/lib/kubelet /var/lib/etcd \
    /etc/cni/net.d /opt/cni/bin /var/lib/cni /etc/containerd/config.toml /var/lib/containerd /run/containerd/containerd.sock /var/lib/docker /run/docker.sock \
    /etc/rancher /var/lib/rancher /var/lib/bke /var/lib/bke/ledger /var/lib/bke-kept; do
    if [ -d "$place" ]; then say trace "$(ls -A "$place" | wc -l) $place"
    elif [ -e "$place" ]; then say trace "1 $place"; fi
  done
  first selinux /sys/fs/selinux/enforce
  # Files of the package; rpm itself may write to its database even when it only asks.
  for place in /usr/share/selinux/packages/container.pp.bz2 /var/lib/selinux/*/active/modules/*/container; do
    [ -e "$place" ] && say selinuxPolicy container-selinux && break
  done
  first apparmor /sys/module/apparmor/parameters/enabled
  # Listing rules loads the kernel's tables where nobody uses them yet: asked only where they are there.
  if have nft && [ -d /sys/module/nf_tables ]; then bound nft list chain ip filter INPUT | grep 'hook input' | under inputChain; fi
}

# What bke put here: services by the mark in their units; processes by their program, their service, or who started them.
own() {
  units=
  for place in /etc/systemd/system/*.service; do
    [ -f "$place" ] && head -n 1 "$place" | grep -q '^# Written by bke' || continue
    name=${place##*/}
    units="$units ${name%.service}"
    say ownUnit "${name%.service}"
  done
  [ -n "$units" ] || [ -d /usr/local/libexec/bke ] || return 0
  {
    ls -l /proc/[0-9]*/exe | sed -n 's|.* /proc/\([0-9]*\)/exe -> /usr/local/libexec/bke/.*|own \1|p'
    for name in $units; do grep -l "/$name\.service$" /proc/[0-9]*/cgroup; done | sed 's|/proc/\([0-9]*\)/.*|own \1|'
    # The name of the program, in brackets, may hold blanks and brackets itself.
    cat /proc/[0-9]*/stat | sed -n 's/^\([0-9]*\) (.*) . \([0-9]*\) .*/\1 \2/p'
  } | awk '
    $1 == "own" { own[$2] = 1; next }
    { parent[$1] = $2 }
    END {
      for (pid in parent) {
        depth = 0
        for (at = pid; at in parent && !(at in own) && depth < 64; at = parent[at]) depth++
        if (at in own) printf " %s", pid
      }
    }' | under ownPids
}

programs() {
  for name in $BKE_TOOLS; do
    place=$(command -v "$name") && say tool "$name $place"
  done
  if have bke; then
    say bke "$(command -v bke)"
    bound bke version -o json | under bkeVersion
  fi
}

probe() {
  now timeStart
  system
  for path in "$@"; do disk "$path"; done
  kernel
  network
  services
  own
  programs
  now timeEnd
}

tab=$(printf '\t')
printf '['
probe "$@" | tr -d '\000-\010\013-\037\177' | sed "s/\\\\/\\\\\\\\/g; s/\"/\\\\\"/g; s/$tab/\\\\t/g; s/^/\"/; s/\$/\",/"
printf '"end:"]\n'
