// Runs a shell script on a machine of its own (sandbox.sh) with `bke` in it.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bundled } from '../../fakes/bundled.ts';

export interface ScriptResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Lines of stdout of the form `name=value`, as the scripts tell what they found. */
  readonly told: Readonly<Record<string, string>>;
}

const program = fileURLToPath(new URL('sandbox.sh', import.meta.url));
const driver = bundled(fileURLToPath(new URL('driver.ts', import.meta.url)));
const recorder = bundled(fileURLToPath(new URL('record.ts', import.meta.url)));

const prelude = `
set -u
bke() { node '${driver}' "$@"; }
# In the background its pid is that of bke itself, not of a shell around it.
exec_bke() { exec node '${driver}' "$@"; }
record() { node '${recorder}' "$@"; }
tell() { printf '%s=%s\\n' "$1" "$2"; }
reset() { bke reset --all --mount --yes "$@" >/tmp/out 2>&1; tell "rc$((++n))" $?; cat /tmp/out >&2; }
there() { if [ -e "$2" ] || [ -L "$2" ]; then tell "$1" there; else tell "$1" gone; fi; }
mounted() { if mountpoint -q "$2"; then tell "$1" mounted; else tell "$1" unmounted; fi; }
n=0
`;

function told(stdout: string): Record<string, string> {
  const pairs = stdout.split('\n').flatMap((line) => {
    const match = /^(\w+)=(.*)$/.exec(line);
    return match?.[1] === undefined || match[2] === undefined ? [] : [[match[1], match[2]] as const];
  });
  return Object.fromEntries(pairs);
}

/** Script helpers: bke, record (changes through the ledger), reset, tell NAME VALUE, there NAME PATH, mounted NAME PATH. */
export async function inSandbox(script: string, timeoutMs = 110_000): Promise<ScriptResult> {
  const child = spawn('bash', [program, `${prelude}${script}`], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), timeoutMs);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? -1)));
  clearTimeout(timer);
  if (code === -1) stderr += `\nthe script did not end within ${timeoutMs / 1000} s\n`;
  return { code, stdout, stderr, told: told(stdout) };
}

/** Why no sandbox can be made here; undefined where it can. */
export function whyNoSandbox(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root';
  const made = spawnSync('bash', [program, 'exit 7'], { encoding: 'utf8' });
  return made.status === 7 ? undefined : `no sandbox: ${made.stderr.trim()}`;
}
