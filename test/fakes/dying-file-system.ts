// node:fs/promises whose process dies between two effects: at the chosen one a write is torn, and from then on nothing more happens.
import { constants } from 'node:fs';
import real, { type FileHandle } from 'node:fs/promises';
import type { FileSystem } from '../../src/host/local/file-system.ts';

/** Stands for kill -9: nothing in the product catches it for good, and no clean-up after it has an effect. */
export class FakeCrash extends Error {
  override readonly name = 'FakeCrash';
}

/** Counts what changes the machine; when its turn has come the process is dead until it is revived. */
export class Fate {
  #effects = 0;
  #dieAt: number | undefined;
  #dead = false;

  /** How many effects there were since the last start. */
  get effects(): number {
    return this.#effects;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** Counts from 1; the effect itself does not happen (a write happens by half). undefined: live. */
  start(dieAt?: number): void {
    this.#effects = 0;
    this.#dieAt = dieAt;
    this.#dead = false;
  }

  /** @param torn what of the effect still happens. */
  async effect(torn?: () => Promise<unknown>): Promise<void> {
    if (this.#dead) throw new FakeCrash('dead');
    this.#effects += 1;
    if (this.#effects !== this.#dieAt) return;
    this.#dead = true;
    await torn?.();
    throw new FakeCrash(`died at effect ${this.#effects}`);
  }
}

/** A kernel value takes a write as a whole or not at all. */
function kernelHandle(handle: FileHandle, fate: Fate): FileHandle {
  return new Proxy(handle, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'writeFile') return value.bind(target);
      return async (data: string | Uint8Array) => {
        await fate.effect();
        await target.truncate(0);
        await target.writeFile(data);
      };
    },
  });
}

function dyingHandle(handle: FileHandle, fate: Fate): FileHandle {
  return new Proxy(handle, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name === 'writeFile') {
        return async (data: string | Uint8Array) => {
          const bytes = Buffer.from(data);
          await fate.effect(() => target.writeFile(bytes.subarray(0, Math.floor(bytes.length / 2))));
          await target.writeFile(bytes);
        };
      }
      const bound: unknown = value.bind(target);
      if (typeof bound !== 'function' || !['chmod', 'chown', 'truncate'].includes(String(name))) return bound;
      return async (...args: unknown[]) => {
        await fate.effect();
        return bound(...args);
      };
    },
  });
}

const changing = ['chmod', 'lchown', 'mkdir', 'rename', 'rmdir', 'symlink', 'truncate', 'unlink', 'utimes'];

export function dyingFileSystem(fate: Fate): FileSystem {
  const fs: FileSystem = real;
  return new Proxy(fs, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name === 'open') {
        const open: FileSystem['open'] = async (path, flags, mode) => {
          if (typeof flags === 'number' && path.toString().includes('/proc/sys/')) {
            return kernelHandle(await target.open(path, flags & ~constants.O_TRUNC, mode), fate);
          }
          if (typeof flags === 'number' && (flags & (constants.O_CREAT | constants.O_TRUNC)) !== 0) await fate.effect();
          return dyingHandle(await target.open(path, flags, mode), fate);
        };
        return open;
      }
      if (!changing.includes(String(name))) return value;
      return async (...args: unknown[]) => {
        await fate.effect();
        return value.apply(target, args);
      };
    },
  });
}
