import { describe, expect, it } from 'vitest';
import { defaultNamespace } from '../../../src/config/cluster/defaults.ts';
import { k3sPaths } from '../../../src/tasks/bootstrap-cluster/k3s/paths.ts';
import { kubeadmPaths } from '../../../src/tasks/bootstrap-cluster/kubeadm/paths.ts';
import { fakeCommands } from '../../fakes/commands.ts';
import { runCli } from '../../fakes/cli.ts';

/** The first two lines of what is told, and the exit code; nothing may have run. */
async function refused(line: string): Promise<readonly [number, string, string]> {
  const { commands, runs } = fakeCommands();
  const { code, stdout, stderr } = await runCli(line.split(' '), { commands });
  expect(runs).toEqual([]);
  expect(stdout).toBe('');
  const [error = ''] = stderr.split('\n');
  const hint = stderr.split('\n').find((text) => text.startsWith('hint: ')) ?? '';
  return [code, error, hint.replace('hint: ', '')];
}

async function accepted(line: string): Promise<Readonly<Record<string, unknown>>> {
  const { commands, runs } = fakeCommands();
  const { code, stderr } = await runCli(line.split(' '), { commands });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(runs).toHaveLength(1);
  return runs[0]?.input ?? {};
}

describe('options that can be misread are refused before anything runs', () => {
  it.each([
    [
      'reset --al',
      "error[BKE_UNKNOWN_OPTION]: unknown option '--al'",
      "Did you mean '--all'? 'bke help reset' lists the options.",
    ],
    [
      'reset -all',
      "error[BKE_UNKNOWN_OPTION]: unknown option '-a'",
      "Did you mean '--all'? 'bke help reset' lists the options.",
    ],
    [
      'reset --mnt',
      "error[BKE_UNKNOWN_OPTION]: unknown option '--mnt'",
      "Did you mean '--mount'? 'bke help reset' lists the options.",
    ],
    ['reset --xyzzy', "error[BKE_UNKNOWN_OPTION]: unknown option '--xyzzy'", "'bke help reset' lists the options."],
    ['reset -x', "error[BKE_UNKNOWN_OPTION]: unknown option '-x'", "'bke help reset' lists the options."],
    [
      'reset --no-all',
      "error[BKE_UNKNOWN_OPTION]: unknown option '--no-all'",
      "'--all' is off unless it is given: leave it out.",
    ],
    [
      'reset --ALL',
      "error[BKE_UNKNOWN_OPTION]: unknown option '--ALL'",
      "Did you mean '--all'? 'bke help reset' lists the options.",
    ],
    [
      'reset --all=no',
      "error[BKE_USAGE]: option '--all' takes no value, but 'no' was given",
      "Write '--all' alone, or leave it out.",
    ],
    [
      'reset --all=true',
      "error[BKE_USAGE]: option '--all' takes no value, but 'true' was given",
      "Write '--all' alone, or leave it out.",
    ],
    [
      'reset -q=1',
      "error[BKE_USAGE]: option '-q' takes no value, but '1' was given",
      "Write '-q' alone, or leave it out.",
    ],
    [
      'reset --all no',
      "error[BKE_USAGE]: 'no' is too much: 'bke reset' takes no arguments",
      "'bke help reset' tells all.",
    ],
    [
      'reset extra',
      "error[BKE_USAGE]: 'extra' is too much: 'bke reset' takes no arguments",
      "'bke help reset' tells all.",
    ],
    [
      'init --bundle',
      "error[BKE_USAGE]: option '--bundle' needs a value",
      "Write '--bundle VALUE'; 'bke help init' shows what it takes.",
    ],
    [
      'init --bundle --yes',
      "error[BKE_USAGE]: option '--bundle' needs a value, but '--yes' is an option itself",
      "Write '--bundle VALUE'; 'bke help init' shows what it takes.",
    ],
    [
      'init --bundle=--yes',
      "error[BKE_USAGE]: option '--bundle' needs a value, but '--yes' is an option itself",
      "Write '--bundle VALUE'; 'bke help init' shows what it takes.",
    ],
    [
      'init --bundle --confirm',
      "error[BKE_USAGE]: option '--bundle' needs a value, but '--confirm' is an option itself",
      "Write '--bundle VALUE'; 'bke help init' shows what it takes.",
    ],
    [
      'init --data-dir -x',
      "error[BKE_USAGE]: option '--data-dir' needs a value, but '-x' looks like an option",
      "If it is the value, write '--data-dir=-x'.",
    ],
    ['init --bundle=', "error[BKE_USAGE]: option '--bundle' needs a value, but it is empty", ''],
    [
      'init --bundle a --bundle b',
      "error[BKE_USAGE]: option '--bundle' is given more than once",
      'It takes one value; leave the other out.',
    ],
    [
      'init --host-ip 10.0.0.1 --hostIP 10.0.0.2',
      "error[BKE_USAGE]: option '--hostIP' is given more than once",
      'It takes one value; leave the other out.',
    ],
    ['init --ui --no-ui', "error[BKE_USAGE]: options '--ui' and '--no-ui' contradict each other", ''],
    [
      'init --registry-port 0',
      "error[BKE_USAGE]: option '--registry-port' takes a port from 1 to 65535, not '0'",
      "'bke help init' tells what each option takes.",
    ],
    [
      'init --registry-port 65536',
      "error[BKE_USAGE]: option '--registry-port' takes a port from 1 to 65535, not '65536'",
      "'bke help init' tells what each option takes.",
    ],
    [
      'init --registry-port 0x1f',
      "error[BKE_USAGE]: option '--registry-port' takes a port from 1 to 65535, not '0x1f'",
      "'bke help init' tells what each option takes.",
    ],
    [
      'init --tries=-1',
      "error[BKE_USAGE]: option '--tries' takes a whole number, not '-1'",
      "'bke help init' tells what each option takes.",
    ],
    [
      'init --timeout 30',
      "error[BKE_USAGE]: option '--timeout' takes a duration like 30s, 5m or 1h30m, not '30'",
      "'bke help init' tells what each option takes.",
    ],
    [
      'init --bootstrap k3',
      "error[BKE_USAGE]: option '--bootstrap' takes k3s or kubeadm, not 'k3'",
      "Did you mean '--bootstrap=k3s'?",
    ],
    [
      'init -o yaml',
      "error[BKE_USAGE]: option '--output' takes json, not 'yaml'",
      "'bke help init' tells what each option takes.",
    ],
    ['bundle build r.yaml', 'error[BKE_USAGE]: --to FILE is missing', "'bke help bundle build' tells all."],
    ['bundle build --to x', 'error[BKE_USAGE]: RELEASE is missing', "'bke help bundle build' tells all."],
    ['bundle build', 'error[BKE_USAGE]: RELEASE and --to FILE are missing', "'bke help bundle build' tells all."],
    [
      'bundle build release out.tar',
      'error[BKE_USAGE]: --to FILE is missing',
      "Did you mean '--to out.tar'? 'bke help bundle build' tells all.",
    ],
    ['bundle', "error[BKE_USAGE]: 'bke bundle' needs a command after it", "'bke help bundle' tells more."],
    [
      'bundle biuld',
      "error[BKE_UNKNOWN_COMMAND]: unknown command 'bundle biuld'",
      "Did you mean 'bke bundle build'? 'bke help bundle' lists the commands.",
    ],
    [
      'build x',
      "error[BKE_UNKNOWN_COMMAND]: unknown command 'build'",
      "Did you mean 'bke bundle build'? 'bke help' lists the commands.",
    ],
    [
      'rest',
      "error[BKE_UNKNOWN_COMMAND]: unknown command 'rest'",
      "Did you mean 'bke reset'? 'bke help' lists the commands.",
    ],
    [
      'res',
      "error[BKE_UNKNOWN_COMMAND]: unknown command 'res'",
      "Did you mean 'bke reset'? 'bke help' lists the commands.",
    ],
    ['secrte', "error[BKE_UNKNOWN_COMMAND]: unknown command 'secrte'", "'bke help' lists the commands."],
    [
      '--yes reset',
      "error[BKE_UNKNOWN_OPTION]: unknown option '--yes' before the command",
      "Options of a command come after it: 'bke COMMAND --yes'.",
    ],
    ['secret -o name', "error[BKE_UNKNOWN_OPTION]: unknown option '-o'", "'bke help secret' lists the options."],
  ])('bke %s', async (line, error, hint) => {
    expect(await refused(line)).toEqual([2, error, hint]);
  });
});

describe('a command that this release does not have', () => {
  it.each(['delete', 'scale', 'upgrade'])(
    'bke cluster %s is told as such, with what works in its place',
    async (verb) => {
      const { code, stderr } = await runCli(['cluster', verb, 'prod']);
      expect(code).toBe(2);
      expect(stderr).toContain(
        `error[BKE_UNKNOWN_COMMAND]: 'bke cluster ${verb}' is not there yet\nhint: Until it is, `,
      );
      const deleting = `kubectl --kubeconfig ${kubeadmPaths.kubeconfig} -n ${defaultNamespace} delete cluster NAME`;
      expect(stderr).toContain(`'${deleting}' (with K3s ${k3sPaths.kubeconfig})`);
    },
  );
});

it('a file without its option is taken for what it is', async () => {
  for (const words of ['cluster create', 'host check', 'config validate'])
    expect((await runCli([...words.split(' '), 'cluster.yaml'])).stderr).toContain(
      `hint: Did you mean '-f cluster.yaml'? 'bke help ${words}' tells all.`,
    );
});

describe('options that are meant are accepted', () => {
  it('takes flags in any order, also before the command where every command has them', async () => {
    const wanted = { all: true, mount: true, yes: false };
    expect(await accepted('reset --mount --all')).toEqual(wanted);
    expect(await accepted('reset --all --mount')).toEqual(wanted);
    expect(await accepted('-q reset --all -v --mount')).toEqual(wanted);
    expect(await accepted('reset --all --all --mount')).toEqual(wanted);
  });

  it("takes openFuyao's spellings", async () => {
    expect(await accepted('init --hostIP 10.0.0.5 --imageRepoPort=5000 --confirm')).toMatchObject({
      hostIp: '10.0.0.5',
      registryPort: 5000,
      yes: true,
    });
  });

  it('gives every value its type, and defaults', async () => {
    expect(await accepted('init')).toEqual({
      bundle: undefined,
      dataDir: undefined,
      hostIp: undefined,
      registryPort: 40_443,
      bootstrap: 'k3s',
      timeout: 60_000,
      tries: undefined,
      ignoreCheck: [],
      ui: true,
      yes: false,
    });
    expect(
      await accepted('init --no-ui --timeout 1h30m --tries 3 --ignore-check a --ignore-check=b --data-dir=-x'),
    ).toMatchObject({
      ui: false,
      timeout: 5_400_000,
      tries: 3,
      ignoreCheck: ['a', 'b'],
      dataDir: '-x',
    });
  });

  it('takes a lone dash as a value and everything after two dashes as arguments', async () => {
    expect(await accepted('init --bundle -')).toMatchObject({ bundle: '-' });
    const { commands, runs } = fakeCommands();
    await runCli(['bundle', 'verify', '-q', '--', '--all', '-x'], { commands });
    expect(runs[0]?.input).toEqual({ file: '--all', more: ['-x'] });
  });

  it.each([['-ojson'], ['-o=json'], ['-o json'], ['-qo json'], ['--output json'], ['--output=json']])(
    'reads %s',
    async (words) => {
      const { commands } = fakeCommands();
      const { stdout } = await runCli(['bundle', 'build', 'r.yaml', '--to', 'x', ...words.split(' ')], { commands });
      expect(JSON.parse(stdout)).toEqual({ path: 'x', digest: 'sha256:00' });
    },
  );
});
