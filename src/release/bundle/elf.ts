// For which processor a program was built, from its ELF header.
import { type BlobOrigin } from '../sources/blob-origin.ts';

/** e_machine values of the ELF specification. */
const machines: Readonly<Record<number, string>> = {
  0x03: 'linux/386',
  0x28: 'linux/arm',
  0x3e: 'linux/amd64',
  0xb7: 'linux/arm64',
  0xf3: 'linux/riscv64',
};

/** undefined where it is no ELF file: a script runs anywhere. */
export async function readElfPlatform(origin: BlobOrigin): Promise<string | undefined> {
  let head = Buffer.alloc(0);
  for await (const chunk of origin.open()) {
    if (Buffer.isBuffer(chunk)) head = Buffer.concat([head, chunk.subarray(0, 20)]);
    if (head.length >= 20) break;
  }
  if (head.length < 20 || head.readUInt32BE(0) !== 0x7f454c46) return undefined;
  const machine = head[5] === 2 ? head.readUInt16BE(18) : head.readUInt16LE(18);
  return machines[machine] ?? `another processor (ELF machine ${machine})`;
}
