#!/bin/sh
# Prints the state of a machine in sections; run as root on the machine. Reads only.
# A section begins with a line `@@ NAME`; the section `files` has NUL between fields, all others have one item a line.
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
own_session=$(ps -o sid= -p $$ | tr -d ' ')

section() {
  printf '\n@@ %s\n' "$1"
}

# Every path except these trees: kernel's views, memory file systems, logs, caches.
list() {
  find / \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/log -o -path /var/cache \
    -o -path /var/lib/apt/lists \) -prune -o "$@"
}

section digests
list -type f -print0 | xargs -0 -r sha256sum -z | tr '\0' '\001' | tr '\n\001' '\002\n'
section files
list -printf '%p\0%y\0%m\0%U\0%G\0%s\0%l\0'
section run
find /run -mindepth 1 -maxdepth 1 -printf '%p %y %m %U %G\n'
find /run/systemd/transient /run/systemd/system /run/netns -mindepth 1 -maxdepth 1 -printf '%p %y\n' 2>/dev/null
section unit-files
systemctl list-unit-files --no-legend --no-pager --full --plain
section units
systemctl list-units --all --no-legend --no-pager --full --plain
section users
getent passwd
section groups
getent group
section sysctl
sysctl -a 2>/dev/null
section links
ip -d -j link show
section addresses
ip -j address show
section routes
{ ip -4 route show table all | sed 's/^/ip4 /'; ip -6 route show table all | sed 's/^/ip6 /'; }
section rules
{ ip -4 rule show | sed 's/^/ip4 /'; ip -6 rule show | sed 's/^/ip6 /'; }
section firewall
for program in iptables-nft-save iptables-legacy-save ip6tables-nft-save ip6tables-legacy-save; do
  if command -v "$program" >/dev/null; then
    "$program" 2>/dev/null | sed "s/^/$program /"
  fi
done
if command -v nft >/dev/null; then
  nft -s list ruleset | sed 's/^/nft /'
fi
section mounts
cat /proc/self/mountinfo
section swaps
tail -n +2 /proc/swaps
section modules
cut -d ' ' -f 1 /proc/modules
section listeners
ss -H -l -n -t -u
section processes
for folder in /proc/[0-9]*; do
  exe=$(readlink "$folder/exe") || continue
  session=$(sed 's/^.*) //' "$folder/stat" | cut -d ' ' -f 4) || continue
  [ "$session" = "$own_session" ] || echo "$exe"
done 2>/dev/null | sort -u
section cgroups
find /sys/fs/cgroup -mindepth 1 -maxdepth 2 -type d -printf '%P\n'
section end
