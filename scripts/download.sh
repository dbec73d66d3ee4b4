#!/bin/sh
# Fetches the bke program, checks it and puts it in place. Made for `curl -sfL <server>/download.sh | bash`; any POSIX shell will do.
#
#   BKE_DOWNLOAD_URL   server: https://…, or a folder on this machine (air-gapped sites); it has the layout docs/guide/install.md tells
#   BKE_VERSION        v0.1.0; default: the one this script came with, else what the server calls the latest
#   BKE_CA_FILE        certificate (PEM) of the CA that signed the server's, where the system does not know it
#   BKE_INSTALL_DIR    default: /usr/local/bin for root, ~/.local/bin for others
#   BKE_ALLOW_HTTP     1: the server may be http://…, where anybody on the way can swap the program
#
# All of it stands in braces: a shell that got only a part of this text finds no end and runs nothing.
{
default_url=''
default_version=''

say() {
  printf '%s\n' "$*" >&2
}

# What went wrong, then how to mend it.
fail() {
  say "Error: $1"
  if [ -n "${2-}" ]; then say "  $2"; fi
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

find_architecture() {
  system=$(uname -s)
  [ "$system" = Linux ] || fail "bke is made for Linux, and this is $system" 'Run this on the Linux host itself.'
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64) architecture=amd64 ;;
    aarch64 | arm64) architecture=arm64 ;;
    *) fail "there is no bke for this processor ($machine)" 'bke exists for amd64 (x86_64) and arm64 (aarch64), 64 bit only.' ;;
  esac
  file="bke-linux-$architecture"
}

find_server() {
  url=${BKE_DOWNLOAD_URL:-$default_url}
  case $url in
    '') fail 'this download.sh names no server' 'Say where the releases lie: BKE_DOWNLOAD_URL=https://… (or a folder on this machine).' ;;
    https://*) protocols='=https' ;;
    http://*)
      [ "${BKE_ALLOW_HTTP-}" = 1 ] || fail "$url is not encrypted: anybody on the way could swap the program" \
        'Use https://, a folder on this machine, or BKE_ALLOW_HTTP=1 where you trust the network.'
      protocols='=http,https'
      ;;
    file:///*) url=${url#file://} ;;
    /*) ;;
    *) fail "BKE_DOWNLOAD_URL=$url is neither an address (https://…) nor an absolute path" 'Example: BKE_DOWNLOAD_URL=https://files.example.com/bke' ;;
  esac
  while [ "${url%/}" != "$url" ]; do url=${url%/}; done
  if [ -n "${BKE_CA_FILE-}" ] && [ ! -r "$BKE_CA_FILE" ]; then
    fail "the CA certificate $BKE_CA_FILE (BKE_CA_FILE) cannot be read" 'Name a file with the certificate in PEM form, e.g. /etc/bke/site-ca.crt of the bootstrap node.'
  fi
  has sha256sum || has openssl || fail 'neither sha256sum nor openssl is here to check the program with' 'Install coreutils.'
  find_fetcher
}

find_fetcher() {
  case $url in
    /*) fetcher='cat' ;;
    *)
      if has curl; then fetcher=curl
      elif ! has wget; then fail 'neither curl nor wget is here' "Install one of them, or carry $file here by hand and use BKE_DOWNLOAD_URL=/folder."
      elif wget --version 2>/dev/null | grep -q 'GNU Wget'; then fetcher=wget
      else
        # That of BusyBox checks no certificate.
        case $url in https://*) fail 'this wget cannot check who the server is' 'Install curl or GNU wget.' ;; esac
        fetcher=small-wget
      fi
      ;;
  esac
}

find_target() {
  if [ -n "${BKE_INSTALL_DIR-}" ]; then folder=$BKE_INSTALL_DIR
  elif [ "$(id -u)" = 0 ]; then folder=/usr/local/bin
  elif [ -n "${HOME-}" ]; then folder=$HOME/.local/bin
  else fail 'HOME is not set, so there is no place to put bke' 'Say where: BKE_INSTALL_DIR=/folder'
  fi
  case $folder in /*) ;; *) fail "BKE_INSTALL_DIR=$folder is no absolute path" 'Begin it with /.' ;; esac
  target=$folder/bke
  old=$folder/bke.old
  if [ ! -d "$folder" ]; then
    why=$( (umask 022 && mkdir -p "$folder") 2>&1) || fail "cannot make the folder $folder: ${why##*: }" "$(folder_mend)"
  fi
  remove_leftovers
  part=$folder/.bke-download.$$
  why=$( (umask 077 && : >"$part") 2>&1) || fail "cannot write to $folder: ${why##*: }" "$(folder_mend)"
  trap 'rm -f "$part" "$part.old"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

folder_mend() {
  if [ "$(id -u)" = 0 ]; then printf '%s' 'Mount it writable, or choose another folder: BKE_INSTALL_DIR=/folder'
  else printf '%s' "Run this as root, or choose a folder of yours: BKE_INSTALL_DIR=\$HOME/.local/bin"
  fi
}

# Of runs that were killed: their process is gone.
remove_leftovers() {
  for left in "$folder"/.bke-download.*; do
    [ -f "$left" ] || continue
    number=${left##*/.bke-download.}
    number=${number%.old}
    case $number in '' | *[!0-9]*) continue ;; esac
    kill -0 "$number" 2>/dev/null || rm -f "$left"
  done
}

# fetch <path on the server>: into $part.
fetch() {
  from=$url/$1
  ca=${BKE_CA_FILE-}
  case $fetcher in
    cat)
      [ -f "$from" ] || fail "$from is not there" "$(layout_mend)"
      complaint=$(cat "$from" 2>&1 >"$part")
      ;;
    curl)
      # Bounded: 20 s to connect, and it ends when nothing comes for a minute.
      set -- -fsSL --proto "$protocols" --connect-timeout 20 --speed-limit 1 --speed-time 60 -o "$part" -w '%{http_code}'
      if [ -n "$ca" ]; then set -- "$@" --cacert "$ca"; fi
      complaint=$( { code=$(curl "$@" "$from"); result=$?; printf '\n%s' "$code"; exit "$result"; } 2>&1)
      ;;
    wget)
      set -- -nv -S --timeout=60 --tries=2 -O "$part"
      if [ -n "$ca" ]; then set -- "$@" "--ca-certificate=$ca"; fi
      complaint=$(LC_ALL=C wget "$@" "$from" 2>&1)
      ;;
    small-wget) complaint=$(wget -q -T 60 -O "$part" "$from" 2>&1) ;;
  esac
  result=$?
  if [ "$result" -eq 0 ]; then return; fi
  explain_fetch
}

layout_mend() {
  printf '%s' "Check BKE_DOWNLOAD_URL ($url) and BKE_VERSION; the server must have latest, <version>/sha256sums.txt and <version>/$file."
}

explain_fetch() {
  free=$(df -Pk "$folder" 2>/dev/null | tail -n 1 | { read -r _ _ _ kib _; printf '%s' "${kib:-}"; })
  case $free in '' | *[!0-9]*) free=999999 ;; esac
  cause=$(last_words)
  case $fetcher:$result:$complaint in
    curl:23:* | wget:3:* | cat:*'No space'* | small-wget:*'No space'* | *'No space left'*)
      if [ "$free" -lt 204800 ]; then
        fail "no space left in $folder: $((free / 1024)) MiB free, bke needs about 130" 'Make room there, or choose another folder: BKE_INSTALL_DIR=/folder'
      fi
      fail "cannot write to $folder: $cause" "$(folder_mend)"
      ;;
    curl:22:*404 | *'404 Not Found'*) fail "$from is not there (404)" "$(layout_mend)" ;;
    curl:22:*) fail "the server refuses $from: $cause" 'Look at it with: curl -v' ;;
    curl:35:* | curl:51:* | curl:53:* | curl:58:* | curl:60:* | curl:77:* | curl:83:* | curl:90:* | wget:5:*)
      fail "cannot trust the server of $url: $cause" \
        'Where its certificate is from a CA of your own: BKE_CA_FILE=/path/ca.crt. Is the clock of this machine right? Does the name in the address match the certificate?'
      ;;
    curl:5:* | curl:6:* | *'unable to resolve'* | *'bad address'*) fail "cannot find the server of $url: $cause" 'Check the name, DNS or /etc/hosts, and http(s)_proxy. Without a network: BKE_DOWNLOAD_URL=/folder.' ;;
    curl:7:* | curl:28:* | wget:4:* | *"can't connect"* | *'timed out'*)
      fail "cannot reach the server of $url: $cause" 'Is there a network, a firewall, a proxy (https_proxy)? Without a network: BKE_DOWNLOAD_URL=/folder.'
      ;;
    *) fail "cannot fetch $from: $cause" 'Run the same command again; nothing was changed.' ;;
  esac
}

# The line with the cause: curl marks its own, others say it last.
last_words() {
  printf '%s\n' "$complaint" | grep '^curl: (' ||
    printf '%s\n' "$complaint" | grep -v '^ *[0-9]*$' | tail -n 1
}

find_version() {
  version=${BKE_VERSION:-$default_version}
  if [ -z "$version" ]; then
    fetch latest
    version=$(head -c 200 "$part" | head -n 1 | tr -d ' \r')
    told=" (what $url/latest says)"
  fi
  version=v${version#v}
  case $version in
    v[0-9]*.[0-9]*) ;;
    *) fail "\"$version\"${told-} is no version" 'A version looks like v0.1.0: set BKE_VERSION, or check that the server is the right one.' ;;
  esac
  case $version in *[!0-9A-Za-z.+-]*) fail "\"$version\"${told-} is no version" 'A version looks like v0.1.0.' ;; esac
}

sum_of() {
  if has sha256sum; then sum=$(sha256sum "$1") || return 1
  elif has openssl; then sum=$(openssl dgst -r -sha256 "$1") || return 1
  else return 1
  fi
  printf '%s' "${sum%% *}"
}

find_checksum() {
  fetch "$version/sha256sums.txt"
  wanted=$(while read -r sum name || [ -n "$sum" ]; do if [ "${name#\*}" = "$file" ]; then printf '%s' "$sum"; fi; done <"$part")
  case $wanted in
    '') fail "$from has no line for $file" 'The release is incomplete on the server: choose another version with BKE_VERSION, or mend the server.' ;;
    *[!0-9a-f]*) fail "$from has no SHA-256 for $file" 'The server may have answered with something else: look at that address.' ;;
  esac
  [ "${#wanted}" -eq 64 ] || fail "$from has no SHA-256 for $file" 'The server may have answered with something else: look at that address.'
}

# A program of that name that is not ours is not touched, and a link is somebody's choice (bke itself makes one on hosts it looks after).
look_at_target() {
  present=''
  if [ -L "$target" ] && [ -e "$target" ]; then
    link=$(readlink "$target")
    present=$(version_of "$target") || fail "$target is a link to $link, which is no bke that runs here" \
      "Move it away (mv $target $target.other), then run this again."
    say "$target is a link to $link (bke $present) and stays as it is. Another bke beside it: BKE_INSTALL_DIR=/folder"
    tell_path
    exit 0
  fi
  if [ -d "$target" ]; then fail "$target is a folder" 'Move it away, then run this again.'; fi
  [ -e "$target" ] || return 0
  present=$(version_of "$target") || fail "$target is there, and is no bke that runs here" \
    "Look at it, move it away (mv $target $target.other), then run this again."
  if [ "$(sum_of "$target")" = "$wanted" ]; then
    say "bke $version is in $target already."
    tell_path
    exit 0
  fi
  if [ -e "$old" ] && ! version_of "$old" >/dev/null; then
    fail "$old is there, and is no bke that runs here" "The present bke is kept under that name: move the file away (mv $old $old.other), then run this again."
  fi
}

# Nobody knows what a strange program does.
bounded() {
  if timeout 30 true 2>/dev/null; then timeout 30 "$@"; else "$@"; fi
}

# version_of <program>: what it says it is; nothing of another program's output is taken for it.
version_of() {
  answer=$(bounded "$1" version </dev/null 2>&1) || return 1
  case $answer in
    'bke '[0-9]*' (linux/'*)
      answer=${answer#bke }
      printf 'v%s' "${answer%% *}"
      ;;
    *) return 1 ;;
  esac
}

# Proves itself where it will stay, so that a /tmp without execution does not matter.
try_program() {
  chmod 0755 "$part" || fail "cannot make the program executable in $folder" "$(folder_mend)"
  answer=$(bounded "$part" version </dev/null 2>&1)
  result=$?
  found=$(version_of "$part")
  if [ "$found" = "$version" ]; then return; fi
  if [ -n "$found" ]; then fail "the server's $version says that it is $found" 'The release is wrong on the server: choose another version with BKE_VERSION.'; fi
  answer=$(printf '%s\n' "$answer" | grep -v '^ *$' | tail -n 1)
  if [ "$result" -eq 126 ]; then
    fail "programs cannot be started in $folder: ${answer##*: }" 'Is it mounted noexec, or does a security policy forbid it? Choose another folder: BKE_INSTALL_DIR=/folder'
  fi
  fail "bke $version does not start here (exit $result): $answer" 'It needs a 64 bit Linux with glibc 2.28 or newer and libstdc++ 6 (of GCC 8). Nothing was changed.'
}

# At every moment there is a whole bke in place: the old one or the new one.
put_in_place() {
  sync "$part" 2>/dev/null
  if [ -n "$present" ]; then
    ln "$target" "$part.old" 2>/dev/null || cp -p "$target" "$part.old" 2>/dev/null ||
      fail "cannot keep the present bke as $old" "Make room in $folder: it takes as much again. Nothing was changed."
    mv -f "$part.old" "$old" || fail "cannot keep the present bke as $old" 'Nothing was changed.'
  fi
  mv -f "$part" "$target" || fail "cannot put bke in place as $target" 'Nothing was changed.'
}

tell_path() {
  case :$PATH: in
    *:"$folder":*) ;;
    *)
      say "$folder is not in PATH. Call it as $target, or: export PATH=\"$folder:\$PATH\""
      return
      ;;
  esac
  first=$(command -v bke 2>/dev/null)
  case $first in
    "$target" | '') ;;
    *) say "Note: $first comes before it in PATH." ;;
  esac
}

bke_download() {
  find_architecture
  find_server
  find_target
  find_version
  find_checksum
  look_at_target
  say "Fetching bke $version for $architecture from $url"
  fetch "$version/$file"
  actual=$(sum_of "$part")
  [ "$actual" = "$wanted" ] || fail "$from is not what sha256sums.txt says: expected $wanted, got $actual" \
    'The file is damaged or somebody changed it: do not use it. Run this again; if it stays so, tell whoever keeps the server. Nothing was changed.'
  try_program
  put_in_place
  say "bke $version is in $target."
  if [ -n "$present" ]; then say "The one before ($present) is $old; back to it: mv $old $target"; fi
  tell_path
}

bke_download
}
