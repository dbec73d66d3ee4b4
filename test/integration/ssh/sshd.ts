// A real sshd on a port of 127.0.0.1 with its own configuration, keys and log, and real accounts that are gone after the test.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SshTarget } from '../../../src/host/ssh/target.ts';
import { freePort } from '../free-port.ts';
import { aptGet } from '../../testbed/packages.ts';

const sshdPath = '/usr/sbin/sshd';

/** Installs what is missing, once per machine. @throws Error where that fails: these tests are not skipped in silence. */
export function ensurePackages(...packages: string[]): void {
  const programs: Readonly<Record<string, string>> = {
    'openssh-server': sshdPath,
    sudo: '/usr/bin/sudo',
    tcsh: '/bin/tcsh',
    fish: '/usr/bin/fish',
  };
  const missing = packages.filter((name) => !existsSync(programs[name] ?? `/usr/bin/${name}`));
  if (missing.length === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const [program, ...words] = aptGet;
  execFileSync(program, [...words, 'update', '-qq'], { env, stdio: 'pipe' });
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...missing];
  execFileSync(program, [...words, ...install], { env, stdio: 'pipe' });
}

export interface SshdOptions {
  /** Lines of sshd_config; they win over the defaults below. */
  readonly config?: readonly string[];
  readonly keyTypes?: readonly ('ed25519' | 'rsa' | 'ecdsa')[];
  readonly port?: number;
  /** Of an earlier sshd, to come back with new keys on the same port. */
  readonly directory?: string;
}

export class TestSshd implements AsyncDisposable {
  readonly port: number;
  readonly directory: string;
  readonly keyTypes: readonly string[];
  readonly #child: ReturnType<typeof spawn>;

  private constructor(port: number, directory: string, keyTypes: readonly string[], child: ReturnType<typeof spawn>) {
    this.port = port;
    this.directory = directory;
    this.keyTypes = keyTypes;
    this.#child = child;
  }

  static async start(options: SshdOptions = {}): Promise<TestSshd> {
    ensurePackages('openssh-server', 'sudo');
    const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'bke-sshd-'));
    chmodSync(directory, 0o755);
    const keyTypes = options.keyTypes ?? ['ed25519'];
    for (const type of keyTypes) makeKey(join(directory, `host_${type}`), type);
    if (!existsSync(join(directory, 'root'))) makeKey(join(directory, 'root'), 'ed25519');
    writeFileSync(join(directory, 'authorized_keys'), readFileSync(join(directory, 'root.pub')));
    const port = options.port ?? (await freePort());
    writeFileSync(join(directory, 'sshd_config'), sshdConfig(options.config ?? [], { port, directory, keyTypes }));
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    return new TestSshd(port, directory, keyTypes, await startSshd(directory));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  log(): string {
    return readFileSync(join(this.directory, 'log'), 'utf8');
  }

  fingerprint(type = this.keyTypes[0] ?? ''): string {
    return (
      execFileSync('ssh-keygen', ['-lf', join(this.directory, `host_${type}.pub`)], { encoding: 'utf8' }).split(
        ' ',
      )[1] ?? ''
    );
  }

  publicKey(type = this.keyTypes[0] ?? ''): string {
    return readFileSync(join(this.directory, `host_${type}.pub`), 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ');
  }

  /** Root by key, host key pinned. */
  target(changes: Partial<SshTarget> = {}): SshTarget {
    return {
      name: 'w1',
      address: '127.0.0.1',
      port: this.port,
      user: 'root',
      auth: { privateKey: { file: join(this.directory, 'root') } },
      hostKeys: [this.fingerprint()],
      knownHostsFiles: [],
      ...changes,
    };
  }

  /** Ends the connections, while the server goes on listening. */
  cut(): void {
    execFileSync('pkill', ['-KILL', '-P', String(this.pid)]);
  }

  /** Lets the files of this server stay, for one that comes after it. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function makeKey(path: string, type: string, ...more: string[]): void {
  rmSync(path, { force: true });
  rmSync(`${path}.pub`, { force: true });
  execFileSync('ssh-keygen', [
    '-q',
    '-t',
    type,
    ...(type === 'rsa' ? ['-b', '2048'] : []),
    '-N',
    '',
    '-f',
    path,
    ...more,
  ]);
}

export async function waitFor(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 100) throw new Error('it did not come about within 5 s');
    await pause(50);
  }
}

export interface AccountOptions {
  readonly password?: string;
  readonly shell?: string;
  /** A line of sudoers without the user name, e.g. `ALL=(ALL) NOPASSWD: ALL`. */
  readonly sudo?: string;
  /** Further sudoers lines; `USER` stands for the name. */
  readonly sudoDefaults?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}

const accounts = new Set<TestAccount>();

/** What is left when a test run is ended in the middle. */
process.once('exit', removeAccounts);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    removeAccounts();
    process.kill(process.pid, signal);
  });
}

function removeAccounts(): void {
  for (const account of accounts) account.remove();
}

export class TestAccount implements Disposable {
  readonly name = `bket${randomBytes(4).toString('hex')}`;
  readonly home = `/home/${this.name}`;
  readonly #sudoers = `/etc/sudoers.d/${this.name}`;

  constructor(options: AccountOptions = {}) {
    accounts.add(this);
    execFileSync('useradd', ['-m', '-s', options.shell ?? '/bin/bash', '-d', this.home, this.name]);
    if (options.password !== undefined) execFileSync('chpasswd', { input: `${this.name}:${options.password}\n` });
    const lines = (options.sudoDefaults ?? []).map((line) => line.replaceAll('USER', this.name));
    if (options.sudo !== undefined) lines.push(`${this.name} ${options.sudo}`);
    if (lines.length > 0) writeFileSync(this.#sudoers, `${lines.join('\n')}\n`, { mode: 0o440 });
    for (const [path, text] of Object.entries(options.files ?? {})) {
      mkdirSync(join(this.home, path, '..'), { recursive: true });
      writeFileSync(join(this.home, path), text);
    }
  }

  remove(): void {
    accounts.delete(this);
    rmSync(this.#sudoers, { force: true });
    try {
      execFileSync('userdel', ['-r', '-f', this.name], { stdio: 'pipe' });
    } catch {
      // userdel complains about a missing mail spool although the account is gone.
    }
  }

  [Symbol.dispose](): void {
    this.remove();
  }
}

interface SshdPlace {
  readonly port: number;
  readonly directory: string;
  readonly keyTypes: readonly string[];
}

function sshdConfig(first: readonly string[], { port, directory, keyTypes }: SshdPlace): string {
  const lines = [
    ...first,
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...keyTypes.map((type) => `HostKey ${directory}/host_${type}`),
    `AuthorizedKeysFile ${directory}/authorized_keys`,
    'PidFile none',
    'StrictModes no',
    'UsePAM yes',
    'PermitRootLogin yes',
    'PasswordAuthentication yes',
    'KbdInteractiveAuthentication no',
    'LogLevel VERBOSE',
    'Subsystem sftp internal-sftp',
    'AcceptEnv LANG LC_*',
  ];
  return `${lines.join('\n')}\n`;
}

/** Ends when it listens. */
async function startSshd(directory: string): Promise<ReturnType<typeof spawn>> {
  const log = join(directory, 'log');
  const child = spawn(sshdPath, ['-D', '-f', join(directory, 'sshd_config'), '-E', log], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const listens = (): boolean => existsSync(log) && readFileSync(log, 'utf8').includes('Server listening');
  for (let tries = 0; !listens(); tries += 1) {
    if (child.exitCode !== null || tries > 100) throw new Error(`sshd did not start: ${complaint}`);
    await pause(50);
  }
  return child;
}
