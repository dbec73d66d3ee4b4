// The programs of a Linux system that changes call, at work on the files of a fake host: systemd, shadow's account programs, kmod.
import { access, mkdir, readdir, readFile, rm, symlink, writeFile, copyFile, appendFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { RunOptions, RunResult } from '../../src/host/host.ts';
import type { Fate } from './dying-file-system.ts';

interface Unit {
  active: 'active' | 'inactive' | 'failed';
  /** Text of the file as systemd read it last. */
  loaded: string | undefined;
  /** Text with which the process was started; undefined when it does not run. */
  runs: string | undefined;
  starts: number;
}

const done: RunResult = { exitCode: 0, stdout: '', stderr: '' };

function failed(exitCode: number, stderr: string): RunResult {
  return { exitCode, stdout: '', stderr: `${stderr}\n` };
}

/** Which modules the kernel loads along. */
const moduleNeeds: Readonly<Record<string, readonly string[]>> = {
  br_netfilter: ['bridge'],
  bridge: ['stp', 'llc'],
  stp: ['llc'],
};

export class FakeSystem {
  readonly #root: string;
  readonly #fate: Fate;
  readonly units = new Map<string, Unit>();
  /** What was run, in order. */
  readonly calls: (readonly string[])[] = [];
  /** Units whose start fails. */
  readonly broken = new Set<string>();
  /** What other programs answer, by their name. */
  readonly others = new Map<string, RunResult>();
  /** Users that running processes have: userdel refuses. */
  readonly busyUsers = new Set<string>();

  constructor(root: string, fate: Fate) {
    this.#root = root;
    this.#fate = fate;
  }

  async run(argv: readonly [string, ...string[]], _options?: RunOptions): Promise<RunResult> {
    this.calls.push(argv);
    const [program, ...args] = argv;
    const words = args.filter((arg) => arg !== '--' && arg !== '--quiet');
    switch (program) {
      case 'systemctl':
        return this.#systemctl(words);
      case 'journalctl':
        return { ...done, stdout: 'a last line of the log\n' };
      default:
        return this.#changing(program, words);
    }
  }

  async #changing(program: string, words: readonly string[]): Promise<RunResult> {
    const name = words.at(-1) ?? '';
    const action = new Map([
      ['groupadd', () => this.#groupadd(name)],
      ['groupdel', () => this.#groupdel(name)],
      ['useradd', () => this.#useradd(name, words)],
      ['usermod', () => this.#usermod(name, words)],
      ['userdel', () => this.#userdel(name)],
      ['modprobe', () => this.#modprobe(words[0] ?? '')],
      ['rmmod', () => this.#rmmod(words[0] ?? '')],
    ]).get(program);
    if (action === undefined) return this.#other(program);
    await this.#fate.effect();
    return action();
  }

  #other(program: string): RunResult {
    return this.others.get(basename(program)) ?? failed(127, `${program}: no such program`);
  }

  // --- systemd

  #unit(name: string): Unit {
    const known = this.units.get(name);
    if (known !== undefined) return known;
    const unit: Unit = { active: 'inactive', loaded: undefined, runs: undefined, starts: 0 };
    this.units.set(name, unit);
    return unit;
  }

  #etc(...parts: string[]): string {
    return join(this.#root, 'etc/systemd/system', ...parts);
  }

  /** The file systemd takes: ours before the vendor's. undefined where there is none. */
  async #file(name: string): Promise<string | undefined> {
    for (const path of [this.#etc(name), join(this.#root, 'usr/lib/systemd/system', name)]) {
      const text = await readFile(path, 'utf8').catch(() => undefined);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  async #isEnabled(name: string): Promise<boolean> {
    const folders = await readdir(this.#etc()).catch(() => []);
    for (const folder of folders.filter((entry) => entry.endsWith('.wants'))) {
      if ((await readdir(this.#etc(folder))).includes(name)) return true;
    }
    return false;
  }

  async #systemctl([verb = '', ...rest]: readonly string[]): Promise<RunResult> {
    const name = rest.at(-1) ?? '';
    if (verb === 'show') return this.#show(name);
    await this.#fate.effect();
    const action = new Map([
      ['daemon-reload', () => this.#reload()],
      ['enable', () => this.#enable(name)],
      ['disable', () => this.#disable(name)],
      ['restart', () => this.#restart(name)],
      ['stop', () => this.#stop(name)],
      ['reset-failed', () => this.#resetFailed(name)],
    ]).get(verb);
    return action === undefined ? failed(1, `Unknown command verb ${verb}.`) : action();
  }

  async #reload(): Promise<RunResult> {
    for (const [unit, state] of this.units) state.loaded = await this.#file(unit);
    return done;
  }

  async #resetFailed(name: string): Promise<RunResult> {
    if (this.#unit(name).active === 'failed') this.#unit(name).active = 'inactive';
    return done;
  }

  async #show(name: string): Promise<RunResult> {
    const file = await this.#file(name);
    const unit = this.#unit(name);
    // A unit nobody has asked for yet is read when it is.
    if (unit.loaded === undefined && unit.active === 'inactive') unit.loaded = file;
    const enabled =
      file === undefined
        ? ''
        : (await this.#isEnabled(name))
          ? 'enabled'
          : file.includes('WantedBy=')
            ? 'disabled'
            : 'static';
    const lines = [
      `LoadState=${unit.loaded === undefined ? 'not-found' : 'loaded'}`,
      `ActiveState=${unit.active}`,
      `Result=${unit.active === 'failed' ? 'exit-code' : 'success'}`,
      `UnitFileState=${enabled}`,
      `NeedDaemonReload=${unit.loaded === file ? 'no' : 'yes'}`,
      `MainPID=${unit.active === 'active' ? 4242 : 0}`,
    ];
    return { ...done, stdout: `${lines.join('\n')}\n` };
  }

  async #enable(name: string): Promise<RunResult> {
    const target = /^WantedBy=(.*)$/m.exec((await this.#file(name)) ?? '')?.[1];
    if (target === undefined) return failed(1, `Failed to enable unit: Unit file ${name} does not exist.`);
    await mkdir(this.#etc(`${target}.wants`), { recursive: true });
    await symlink(`/etc/systemd/system/${name}`, this.#etc(`${target}.wants`, name)).catch(() => undefined);
    return done;
  }

  async #disable(name: string): Promise<RunResult> {
    if ((await this.#file(name)) === undefined)
      return failed(1, `Failed to disable unit: Unit file ${name} does not exist.`);
    for (const folder of (await readdir(this.#etc())).filter((entry) => entry.endsWith('.wants'))) {
      await rm(this.#etc(folder, name), { force: true });
      if ((await readdir(this.#etc(folder))).length === 0) await rm(this.#etc(folder), { recursive: true });
    }
    return done;
  }

  async #restart(name: string): Promise<RunResult> {
    const unit = this.#unit(name);
    unit.loaded ??= await this.#file(name);
    if (unit.loaded === undefined) return failed(5, `Unit ${name} not found.`);
    if (this.broken.has(name)) {
      unit.active = 'failed';
      return failed(1, `Job for ${name} failed.`);
    }
    unit.active = 'active';
    unit.runs = unit.loaded;
    unit.starts += 1;
    return done;
  }

  async #stop(name: string): Promise<RunResult> {
    const unit = this.#unit(name);
    if (unit.loaded === undefined && unit.active === 'inactive') return failed(5, `Unit ${name} not loaded.`);
    unit.active = 'inactive';
    unit.runs = undefined;
    return done;
  }

  // --- accounts

  async #table(name: string): Promise<string> {
    return readFile(join(this.#root, 'etc', name), 'utf8').catch(() => '');
  }

  /** As shadow does it: the old table stays beside the new one. */
  async #rewrite(name: string, change: (lines: string[]) => string[]): Promise<void> {
    const path = join(this.#root, 'etc', name);
    await appendFile(join(this.#root, 'etc/.pwd.lock'), '');
    const lines = (await this.#table(name)).split('\n').filter((line) => line !== '');
    await copyFile(path, `${path}-`);
    await writeFile(
      path,
      change(lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }

  async #has(table: string, name: string): Promise<boolean> {
    return (await this.#table(table)).split('\n').some((line) => line.startsWith(`${name}:`));
  }

  async #freeId(table: string): Promise<number> {
    const ids = (await this.#table(table)).split('\n').map((line) => Number(line.split(':')[2]));
    return [...Array(900).keys()].map((index) => 999 - index).find((id) => !ids.includes(id)) ?? 100;
  }

  async #groupadd(name: string): Promise<RunResult> {
    if (await this.#has('group', name)) return failed(9, `groupadd: group '${name}' already exists`);
    const id = await this.#freeId('group');
    await this.#rewrite('group', (lines) => [...lines, `${name}:x:${id}:`]);
    await this.#rewrite('gshadow', (lines) => [...lines, `${name}:!::`]);
    return done;
  }

  async #useradd(name: string, words: readonly string[]): Promise<RunResult> {
    if (await this.#has('passwd', name)) return failed(9, `useradd: user '${name}' already exists`);
    if (words.includes('--user-group')) await this.#groupadd(name);
    const groups = (await this.#table('group')).split('\n');
    const group = optionOf(words, '--gid') ?? name;
    const gid = groups.find((line) => line.startsWith(`${group}:`))?.split(':')[2];
    const id = await this.#freeId('passwd');
    const [comment, home, shell] = ['--comment', '--home-dir', '--shell'].map(
      (option) => optionOf(words, option) ?? '',
    );
    await this.#rewrite('passwd', (lines) => [...lines, `${name}:x:${id}:${gid}:${comment}:${home}:${shell}`]);
    await this.#rewrite('shadow', (lines) => [...lines, `${name}:!:20000::::::`]);
    return this.#usermod(name, words);
  }

  /** Memberships only. */
  async #usermod(name: string, words: readonly string[]): Promise<RunResult> {
    const wanted = optionOf(words, '--groups')?.split(',') ?? [];
    for (const table of wanted.length === 0 ? [] : ['group', 'gshadow']) {
      await this.#rewrite(table, (lines) =>
        lines.map((line) => (wanted.includes(line.split(':', 1)[0] ?? '') ? `${line}${name}` : line)),
      );
    }
    return done;
  }

  async #userdel(name: string): Promise<RunResult> {
    if (!(await this.#has('passwd', name))) return failed(6, `userdel: user '${name}' does not exist`);
    if (this.busyUsers.has(name)) return failed(8, `userdel: user ${name} is currently used by process 4711`);
    const without = linesWithout(name);
    await this.#rewrite('passwd', without);
    await this.#rewrite('shadow', without);
    for (const table of ['group', 'gshadow']) {
      await this.#rewrite(table, (lines) =>
        lines.map((line) => (line.endsWith(`:${name}`) ? line.slice(0, -name.length) : line)),
      );
    }
    await this.#removeGroup(name, without);
    return done;
  }

  async #groupdel(name: string): Promise<RunResult> {
    if (!(await this.#has('group', name))) return failed(6, `groupdel: group '${name}' does not exist`);
    await this.#removeGroup(name, linesWithout(name));
    return done;
  }

  async #removeGroup(name: string, without: (lines: string[]) => string[]): Promise<void> {
    if (!(await this.#has('group', name))) return;
    await this.#rewrite('group', without);
    await this.#rewrite('gshadow', without);
  }

  // --- kernel modules

  async #modules(): Promise<Map<string, Set<string>>> {
    const text = await readFile(join(this.#root, 'proc/modules'), 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    return new Map(
      lines.map((line) => {
        const [name = '', , , users = '-'] = line.split(' ');
        return [name, new Set(users.split(',').filter((user) => user !== '' && user !== '-'))];
      }),
    );
  }

  async #saveModules(modules: Map<string, Set<string>>): Promise<void> {
    const lines = [...modules].map(
      ([name, users]) => `${name} 4096 ${users.size} ${[...users].join(',') || '-'} Live 0x0\n`,
    );
    await writeFile(join(this.#root, 'proc/modules'), lines.join(''));
  }

  async #modprobe(name: string): Promise<RunResult> {
    const modules = await this.#modules();
    const load = (module: string, user?: string): void => {
      const users = modules.get(module) ?? new Set<string>();
      if (user !== undefined) users.add(user);
      modules.set(module, users);
      for (const need of moduleNeeds[module] ?? []) load(need, module);
    };
    load(name.replaceAll('-', '_'));
    await this.#saveModules(modules);
    return done;
  }

  async #rmmod(name: string): Promise<RunResult> {
    const modules = await this.#modules();
    if ((modules.get(name)?.size ?? 0) > 0) return failed(1, `rmmod: ERROR: Module ${name} is in use`);
    modules.delete(name);
    for (const users of modules.values()) users.delete(name);
    await this.#saveModules(modules);
    return done;
  }

  async exists(path: string): Promise<boolean> {
    return access(join(this.#root, path)).then(
      () => true,
      () => false,
    );
  }
}

function optionOf(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  return at < 0 ? undefined : words[at + 1];
}

function linesWithout(name: string): (lines: string[]) => string[] {
  return (lines) => lines.filter((line) => !line.startsWith(`${name}:`));
}
