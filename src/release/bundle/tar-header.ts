// The tar headers of a bundle (POSIX ustar, pax where a size needs it): made without time, owner or machine, so that equal content is equal bytes.

export const blockSize = 512;
/** The largest size that the 11 octal digits of a ustar header can hold. */
const ustarLimit = 0o77777777777;

const field = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  link: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

/** Bytes to fill a member of `size` bytes up to whole blocks. */
export function paddingOf(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize;
}

/** Two empty blocks end an archive. */
export const archiveEnd: Buffer = Buffer.alloc(2 * blockSize);

/** Header of a plain file; a pax header goes before it where the size is beyond ustar. Names are short ASCII: bke chooses them. */
export function encodeHeader(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`the name is too long for a bundle: ${name}`);
  if (size <= ustarLimit) return ustar(name, size, '0');
  const record = paxRecord('size', String(size));
  return Buffer.concat([
    ustar(`pax/${name}`.slice(0, 100), record.length, 'x'),
    record,
    Buffer.alloc(paddingOf(record.length)),
    ustar(name, 0, '0'),
  ]);
}

function ustar(name: string, size: number, type: '0' | 'x'): Buffer {
  const header = Buffer.alloc(blockSize);
  const put = ([at, length]: readonly [number, number], text: string) => header.write(text, at, length, 'latin1');
  put(field.name, name);
  put(field.mode, '0000644\0');
  put(field.uid, '0000000\0');
  put(field.gid, '0000000\0');
  put(field.size, `${size.toString(8).padStart(11, '0')}\0`);
  put(field.mtime, '00000000000\0');
  put(field.type, type);
  put(field.magic, 'ustar\x0000');
  put(field.checksum, checksumText(header));
  return header;
}

function checksumText(header: Buffer): string {
  return `${checksumOf(header).toString(8).padStart(6, '0')}\0 `;
}

/** Exactly the two forms that tars write: a looser reading would let a flipped byte in the checksum itself pass. */
function checksumFits(block: Buffer): boolean {
  const [at, length] = field.checksum;
  const found = block.toString('latin1', at, at + length);
  const wanted = checksumText(block);
  return found === wanted || found === `${wanted.slice(0, 6)} \0`;
}

/** Sum of all bytes, those of the checksum itself taken as spaces. */
function checksumOf(header: Buffer): number {
  const [at, length] = field.checksum;
  let sum = 0x20 * length;
  for (let i = 0; i < blockSize; i += 1) if (i < at || i >= at + length) sum += header[i] ?? 0;
  return sum;
}

/** `<length> <key>=<value>\n`, where the length counts itself. */
function paxRecord(key: string, value: string): Buffer {
  const body = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(body);
  while (String(length).length + Buffer.byteLength(body) !== length) {
    length = String(length).length + Buffer.byteLength(body);
  }
  return Buffer.from(`${length}${body}`);
}

export interface TarHeader {
  readonly name: string;
  readonly size: number;
  /** The type flag: '0' plain file, 'x' pax header of the next, 'L' GNU long name of the next, … */
  readonly type: string;
}

/** undefined for the empty block that ends an archive; 'damaged' where it is no ustar header or its checksum is wrong. */
export function decodeHeader(block: Buffer): TarHeader | undefined | 'damaged' {
  if (block.every((byte) => byte === 0)) return undefined;
  const magic = text(block, field.magic);
  if (!magic.startsWith('ustar')) return 'damaged';
  if (!checksumFits(block)) return 'damaged';
  const size = number(block, field.size);
  if (size === undefined) return 'damaged';
  const prefix = magic === 'ustar' ? text(block, field.prefix) : '';
  const name = text(block, field.name);
  return { name: prefix === '' ? name : `${prefix}/${name}`, size, type: text(block, field.type) || '0' };
}

function text(block: Buffer, [at, length]: readonly [number, number]): string {
  const end = block.indexOf(0, at);
  return block.toString('utf8', at, end === -1 || end > at + length ? at + length : end);
}

/** Octal text, or GNU's base-256 for what is larger. */
function number(block: Buffer, position: readonly [number, number]): number | undefined {
  const [at, length] = position;
  if (((block[at] ?? 0) & 0x80) !== 0) {
    let value = (block[at] ?? 0) & 0x7f;
    for (let i = at + 1; i < at + length; i += 1) value = value * 256 + (block[i] ?? 0);
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const digits = text(block, position).trim();
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : undefined;
}

/** The records of a pax header; undefined where they are not well-formed. */
export function decodePax(bytes: Buffer): ReadonlyMap<string, string> | undefined {
  const records = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const length = space === -1 ? Number.NaN : Number(bytes.toString('latin1', at, space));
    const record = bytes.subarray(space + 1, at + length);
    const equals = record.indexOf(0x3d);
    if (!Number.isInteger(length) || at + length > bytes.length || equals < 1 || record.at(-1) !== 0x0a)
      return undefined;
    records.set(record.toString('utf8', 0, equals), record.toString('utf8', equals + 1, record.length - 1));
    at += length;
  }
  return records;
}
