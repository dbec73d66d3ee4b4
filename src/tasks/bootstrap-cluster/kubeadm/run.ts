// Runs kubeadm with bke's configuration. While it runs, the state of the control plane is told; what it says when it fails becomes the error.
import type { Host, RunResult } from '../../../host/host.ts';
import { listAt, numberAt, textAt } from '../../../kube/fields.ts';
import { BkeError } from '../../../lib/errors.ts';
import { lastLines } from '../../../lib/text.ts';
import { tryJson } from '../../../lib/try-json.ts';
import { crictl } from '../../node/images.ts';
import type { TaskScope } from '../../task.ts';
import { kubeadmPaths } from './paths.ts';

const runMs = 15 * 60_000;
const lookMs = 3000;
const shownLines = 15;

/** @throws BkeError BKE_KUBEADM_FAILED */
export async function runKubeadm(scope: TaskScope, words: readonly string[]): Promise<void> {
  const result = await runToldOf(scope, [kubeadmPaths.program, ...words, `--config=${kubeadmPaths.config}`]);
  if (result.exitCode === 0) return;
  const name = words.filter((word) => !word.startsWith('-')).join(' ');
  throw new BkeError('BKE_KUBEADM_FAILED', `kubeadm ${name} ended with exit code ${result.exitCode}`, {
    host: scope.host.name,
    details: errorLines(result.stderr),
    hint: 'See crictl ps -a and journalctl -u kubelet, mend what is named, then run the same command again.',
  });
}

/** kubeadm itself waits for minutes and does not say for what. */
async function runToldOf(scope: TaskScope, argv: readonly [string, ...string[]]): Promise<RunResult> {
  let over = false;
  const running = scope.host.run(argv, { timeoutMs: runMs, signal: scope.signal }).finally(() => {
    over = true;
  });
  const look = controlPlaneLook(scope.host);
  const told = scope.wait({
    for: 'kubeadm to come to its end',
    timeoutMs: runMs + lookMs,
    intervalMs: 200,
    next: 'crictl ps -a; journalctl -u kubelet',
    probe: async () => (over ? { ready: true } : { ready: false, cause: await look() }),
  });
  const [result] = await Promise.all([running, told]);
  return result;
}

/** Asks containerd now and then, and answers with what it said last in between. */
function controlPlaneLook(host: Host): () => Promise<string> {
  let at = Number.NEGATIVE_INFINITY;
  let last = '';
  return async () => {
    if (performance.now() - at < lookMs) return last;
    last = await controlPlaneState(host);
    at = performance.now();
    return last;
  };
}

async function controlPlaneState(host: Host): Promise<string> {
  const result = await host.run([crictl, 'ps', '-a', '-o', 'json'], { timeoutMs: 10_000 }).catch(() => undefined);
  const containers = result?.exitCode === 0 ? listAt(tryJson(result.stdout), 'containers') : [];
  const states = new Map<string, string>();
  // The newest of each comes first.
  for (const container of containers) {
    const name = textAt(container, 'metadata', 'name');
    if (name === undefined || states.has(name)) continue;
    const state = (textAt(container, 'state') ?? '').replace('CONTAINER_', '').toLowerCase();
    const tries = numberAt(container, 'metadata', 'attempt') ?? 0;
    states.set(name, `${name} ${state}${tries > 0 ? ` (started ${tries + 1} times)` : ''}`);
  }
  return states.size === 0 ? 'no container runs yet' : [...states.values()].sort().join(', ');
}

/** kubeadm's own words, without what it says to everybody. */
function errorLines(stderr: string): string[] {
  const general = /^To see the stack trace|^\s*$|^\[preflight\] If you know/;
  const lines = stderr.split('\n').filter((line) => !general.test(line));
  return lastLines(lines.join('\n'), shownLines);
}
