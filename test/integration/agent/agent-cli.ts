// The agent as a process of its own, on a host that is a folder: node agent-cli.ts ROOT [REST_MS]. Shell commands run on this machine.
import { runAgent } from '../../../src/agent/agent.ts';
import { openRoleLog } from '../../../src/commands/roles/log.ts';
import type { Host } from '../../../src/host/host.ts';
import { runProgram } from '../../../src/host/local/run.ts';
import { agentPaths } from '../../../src/tasks/agent/paths.ts';
import { FakeHost } from '../../fakes/fake-host.ts';

const [root = '', restMs = '60000'] = process.argv.slice(2);
const fake = FakeHost.open(root);
const host: Host = {
  name: fake.name,
  files: fake.files,
  run: (argv, options) => (argv[0] === '/bin/sh' ? runProgram(argv, options) : fake.run(argv, options)),
  upload: (source, path, target) => fake.upload(source, path, target),
  close: () => fake.close(),
};
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort(new Error('told to stop')));
await runAgent(
  {
    host,
    log: openRoleLog(),
    now: () => new Date(),
    operationsDirectory: undefined,
    artifactsDir: fake.at(agentPaths.artifacts),
    // Run from source it is always larger than that.
    rest: { idleMs: Number(restMs), mostBytes: 1 << 20 },
  },
  stop.signal,
);
