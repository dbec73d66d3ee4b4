#!/usr/bin/env bash
# Types, lint, format, unused code, import direction. Every part runs, so that one run shows everything.
set -u
cd "$(dirname "$0")/.."
failed=0
step() {
  local title=$1
  shift
  if output=$("$@" 2>&1); then
    printf 'ok    %s\n' "$title"
  else
    printf 'FAIL  %s\n%s\n' "$title" "$output"
    failed=1
  fi
}
# Every shell script that git tracks, by the shell of its first line; one without such a line is POSIX sh.
shell_scripts() {
  local files script first shell bad=0
  files=$(git ls-files '*.sh' .ci) || return 1
  [ -n "$files" ] || { echo 'git names no shell script'; return 1; }
  while IFS= read -r script; do
    IFS= read -r first <"$script"
    case $first in '#!'*bash*) shell=bash ;; *) shell=sh ;; esac
    "$shell" -n "$script" || bad=1
  done <<<"$files"
  return "$bad"
}
step 'types'            tsc -p tsconfig.json
step 'lint'             oxlint --type-aware --deny-warnings bin src scripts test
step 'format'           biome format .
step 'unused code'      knip
step 'import direction' node scripts/check-imports.ts
step 'shell scripts'    shell_scripts
exit "$failed"
