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
step 'types'            tsc -p tsconfig.json
step 'lint'             oxlint --type-aware --deny-warnings bin src scripts test
step 'format'           biome format .
step 'unused code'      knip
step 'import direction' node scripts/check-imports.ts
step 'shell scripts'    bash -n scripts/*.sh .ci/run
exit "$failed"
