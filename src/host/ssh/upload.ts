// Puts a file on a host: streamed beside its place, synced, checked by digest there, given its mode, then renamed into place.
import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { formatBytes } from '../../lib/bytes.ts';
import { isDigest } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import { shellQuote } from '../../lib/quote.ts';
import type { UploadTarget } from '../host.ts';
import type { Connection } from './connection.ts';
import { bodyScript } from './script.ts';
import { lastLines } from '../../lib/text.ts';

/** Without progress for this long an upload is given up … */
const idleMs = 60_000;
/** … and at its end the host may need time to write out and read back at this many bytes per ms. */
const slowestDisk = 20_000;

/** @throws BkeError BKE_DIGEST_MISMATCH, BKE_DISK_FULL, BKE_COMMAND_FAILED; nothing of the file is left behind then. */
export async function upload(
  connection: Connection,
  source: Readable,
  path: string,
  file: UploadTarget,
): Promise<void> {
  if (!path.startsWith('/') || path.endsWith('/')) throw new Error(`not an absolute file path: ${path}`);
  if (!isDigest(file.digest)) throw new Error(`not a digest: ${file.digest}`);
  const result = await connection.run({
    script: bodyScript(receiveScript(path, file)),
    input: source,
    timeoutMs: idleMs + (file.sizeBytes ?? 0) / slowestDisk,
    whileInputFlows: true,
    maxOutputBytes: 64 * 1024,
    what: `the upload of ${path}`,
  });
  const [verdict = '', ...words] = (result.stdout.trim().split('\n').at(-1) ?? '').split(' ');
  if (verdict === 'done') return;
  throw uploadError(connection, path, file, {
    verdict,
    text: words.join(' '),
    said: connection.redact(`${result.stdout}\n${result.stderr}`),
  });
}

/**
 * The part that runs on the host, as root. Prints one word (and a detail) as its last line.
 * The temporary file is in the same directory, so that it gets the security label of its place and the rename cannot cross file systems.
 */
function receiveScript(path: string, file: UploadTarget): string {
  const directory = posix.dirname(path);
  const temporary = posix.join(directory, `.bke-${randomBytes(8).toString('hex')}.tmp`);
  const neededKib = file.sizeBytes === undefined ? 0 : Math.ceil(file.sizeBytes / 1024);
  return [
    `d=${shellQuote(directory)}; f=${shellQuote(path)}; t=${shellQuote(temporary)}; want=${file.digest.slice('sha256:'.length)}`,
    'umask 077; trap \'rm -f -- "$t"\' 0; trap "exit 1" 1 2 15',
    // After a cut connection there is nobody to print to; that must not end the script before it has cleaned up.
    "trap '' 13",
    'if [ ! -d "$d" ]; then echo "no-directory"; exit 0; fi',
    'if [ -d "$f" ]; then echo "is-directory"; exit 0; fi',
    'free=$(df -Pk -- "$d" 2>/dev/null | tail -n 1); set -- $free; free=${4:-0}',
    `if [ "$free" -gt 0 ] && [ "$free" -lt ${neededKib} ]; then echo "full $free"; exit 0; fi`,
    'e=$( { cat >"$t"; } 2>&1 ) || { echo "write-failed $e"; exit 0; }',
    `e=$( { chown 0:0 "$t" && chmod ${file.mode.toString(8).padStart(4, '0')} "$t"; } 2>&1 ) || { echo "write-failed $e"; exit 0; }`,
    'e=$(sync "$t" 2>&1) || case $e in *"o space left"*|*uota*|*nput/output*) echo "write-failed $e"; exit 0;; esac',
    'got=$(sha256sum <"$t") || { echo "no-sha256sum"; exit 0; }',
    'got=${got%% *}',
    'if [ "$got" != "$want" ]; then echo "digest $got"; exit 0; fi',
    'e=$(mv -f -- "$t" "$f" 2>&1) || { echo "write-failed $e"; exit 0; }',
    'trap - 0; sync "$d" 2>/dev/null; echo "done"',
  ].join('\n');
}

interface Refusal {
  readonly verdict: string;
  readonly text: string;
  readonly said: string;
}

function uploadError(connection: Connection, path: string, file: UploadTarget, refusal: Refusal): BkeError {
  const host = connection.target.name;
  const { verdict, text } = refusal;
  if (verdict === 'digest') {
    return new BkeError(
      'BKE_DIGEST_MISMATCH',
      `what arrived as ${path} on ${host} is not what was sent: expected ${file.digest}, got sha256:${text}`,
      {
        host,
        hint: 'Nothing was put in place. Run the same command again; if it happens twice, check the source file and the disk of the host.',
      },
    );
  }
  const needed =
    file.sizeBytes === undefined ? '' : `, ${formatBytes(file.sizeBytes)} (${file.sizeBytes} bytes) are needed`;
  const full = verdict === 'full' || (verdict === 'write-failed' && /no space left|quota exceeded/i.test(text));
  if (full) {
    const free = verdict === 'full' ? `: ${formatBytes(Number(text) * 1024)} are free${needed}` : needed;
    return new BkeError('BKE_DISK_FULL', `no room for ${path} on ${host}${free}`, {
      host,
      hint: `Free some space in ${posix.dirname(path)} on ${host}; nothing of the file was left there.`,
    });
  }
  const why: Readonly<Record<string, string>> = {
    'no-directory': `the directory ${posix.dirname(path)} does not exist`,
    'is-directory': 'there is a directory of that name',
    'no-sha256sum': 'sha256sum is not installed there',
    'write-failed': text,
  };
  return new BkeError(
    'BKE_COMMAND_FAILED',
    `cannot put ${path} on ${host}: ${connection.redact(why[verdict] ?? 'it did not finish')}`,
    {
      host,
      details: why[verdict] === undefined ? lastLines(refusal.said, 5) : [],
    },
  );
}
