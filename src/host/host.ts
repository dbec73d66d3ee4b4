// What bke can do on a Linux machine. Tasks and changes know these interfaces only, never where they run (ARCHITECTURE.md, "Rules that hold everywhere").
import type { Readable } from 'node:stream';

export interface RunOptions {
  /** Bytes for the program's stdin; without it stdin is empty. Never a secret in argv: pass it here. */
  readonly input?: string | Uint8Array | Readable;
  /** Default 60 000. After it the program and its children are ended and BKE_TIMEOUT is thrown. */
  readonly timeoutMs?: number;
  /** Added to a clean environment of PATH, LC_ALL=C and HOME; nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** stdout and stderr beyond this many bytes each are dropped from the front, which the result tells. Default 1 MiB. */
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
}

export interface RunResult {
  /** 128 + signal number where a signal ended it. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes that are missing at the beginning of each, where some are. */
  readonly dropped?: { readonly stdout: number; readonly stderr: number };
}

/** Any machine bke can reach: this one, or one over SSH. Programs run as root (sudo where the login is not root). */
export interface HostShell {
  /** As the user wrote it; goes into every message. */
  readonly name: string;
  /** Runs a program by argument vector; no shell reads it. A non-zero exit code is a result, not an error. */
  run(argv: readonly [string, ...string[]], options?: RunOptions): Promise<RunResult>;
  /**
   * Streams a file to `path` (written beside it, synced, checked against `digest`, then renamed).
   * @throws BkeError BKE_DIGEST_MISMATCH when what arrived is not what was meant.
   */
  upload(source: Readable, path: string, file: UploadTarget): Promise<void>;
  close(): Promise<void>;
}

export interface UploadTarget {
  /** sha256:<hex> */
  readonly digest: string;
  readonly mode: number;
  readonly sizeBytes?: number;
}

export type FileType = 'file' | 'directory' | 'link' | 'other';

/** lstat of a path, in whole numbers. */
export interface FileStat {
  readonly type: FileType;
  /** Permission bits only, e.g. 0o644. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  /** Modification time in ns since 1970, decimal text. */
  readonly mtimeNs: string;
}

export interface FileAttributes {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** What `write` gives a file besides its content; with `mtimeNs` (ns since 1970, decimal text) the file looks as old as it was. */
export interface WriteAttributes extends FileAttributes {
  readonly mtimeNs?: string;
}

/** One thing in a tree. */
export interface TreeEntry {
  /** Relative to the top, '' for the top itself. Names that are no UTF-8 show their odd bytes as \xNN, so that it is unique and printable. */
  readonly path: string;
  readonly type: FileType;
  /** Something is mounted here: it is neither entered nor asked (a dead network file system would not answer), so there is no more than this. */
  readonly mountPoint: boolean;
  readonly stat?: FileStat;
  readonly inode?: string;
  /** sha256:<hex> of files up to `digestUpTo` bytes. */
  readonly digest?: string;
  /** Of symbolic links. */
  readonly target?: string;
}

export interface RemoveTreeOptions {
  /** Paths relative to the top (as TreeEntry has them) that stay, with the directories above them. */
  readonly keep?: ReadonlySet<string>;
  /** The top directory itself stays. */
  readonly keepTop?: boolean;
  /** The top may be a mount point (it was one before us). Without it such a tree is left alone. */
  readonly mountedTop?: boolean;
  /** Default 10 minutes; what is still there then is reported as left. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface LeftPath {
  /** Absolute. */
  readonly path: string;
  readonly why: string;
}

export interface RemoveTreeResult {
  /** How many files, links and directories are gone. */
  readonly removed: number;
  /** What should have gone and did not; the directories above it are not listed. */
  readonly left: readonly LeftPath[];
}

/**
 * The file system of the machine this bke process runs on. Paths are absolute. Symbolic links in the last part of a path are never followed unless said so.
 * @throws BkeError BKE_SYSTEM naming the path and the system's reason (`cause.code` is the errno name), BKE_DISK_FULL where there is no space.
 */
export interface HostFiles {
  /** undefined where nothing is there. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Whole file; refuses files larger than maxBytes (default 1 MiB). undefined where nothing is there. */
  read(path: string, options?: { readonly maxBytes?: number }): Promise<Buffer | undefined>;
  stream(path: string): Readable;
  /** sha256:<hex> of a file's content, streamed. */
  digest(path: string): Promise<string>;
  /** Temp file in the same directory, attributes, fsync, rename, fsync of the directory. Text, bytes or a stream. */
  write(path: string, content: string | Uint8Array | Readable, attributes: WriteAttributes): Promise<void>;
  /** Writes into a file that exists, without replacing it: for kernel interfaces (/proc/sys) and files that are mount points. */
  writeInPlace(path: string, content: string | Uint8Array): Promise<void>;
  /** One directory with its attributes, in one step; its parent must exist and it must not. */
  makeDirectory(path: string, attributes: FileAttributes): Promise<void>;
  setAttributes(path: string, attributes: FileAttributes): Promise<void>;
  /** Replaces what file or link is there, by rename. */
  link(path: string, target: string): Promise<void>;
  readLink(path: string): Promise<string>;
  /** Names in a directory, sorted; empty where it is missing. */
  list(path: string): Promise<string[]>;
  /** One file, link or empty directory; nothing there is fine. Never recursive. */
  remove(path: string): Promise<void>;
  /** Appends and fsyncs; creates with 0600. What fails leaves the file as it was. */
  append(path: string, content: string): Promise<void>;
  /** Cuts a file to `size` bytes and fsyncs. */
  truncate(path: string, size: number): Promise<void>;
  /** Follows every symbolic link; undefined where nothing is there. */
  realPath(path: string): Promise<string | undefined>;
  /** A directory and everything below it, parents first, never into another mount; nothing where it is missing. Files up to `digestUpTo` bytes are digested. */
  walk(path: string, options?: { readonly digestUpTo?: number }): AsyncIterable<TreeEntry>;
  /** The mechanism below `changes/remove-tree.ts`, which every caller uses instead. */
  removeTree(path: string, options?: RemoveTreeOptions): Promise<RemoveTreeResult>;
}

/** The machine this bke process runs on: the only place where changes are applied. */
export interface Host extends HostShell {
  readonly files: HostFiles;
}
