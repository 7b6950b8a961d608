// Headers of a ustar archive. Sizes above 8 GiB are written in base 256, as GNU tar and libarchive read them.

export const blockSize = 512;
const largestOctal = 0o77777777777;

type TarHeader = { name: string; size: number };
/** The type of a member: a plain file, a folder, or what ustar has beside them. */
type TarEntry = TarHeader & { type: string };

export function encodeHeader({ name, size }: TarHeader, mtime: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`the member name ${name} is longer than 100 bytes`);
  const block = Buffer.alloc(blockSize);
  block.write(name, 0);
  block.write("0000600\0" + "0000000\0" + "0000000\0", 100, "latin1");
  if (size <= largestOctal) block.write(`${octal(size, 11)}\0`, 124, "latin1");
  else {
    block.writeUInt8(0x80, 124);
    block.writeBigUInt64BE(BigInt(size), 128);
  }
  block.write(`${octal(mtime, 11)}\0`, 136, "latin1");
  block.write("        0", 148, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write(`${octal(sumOf(block), 6)}\0 `, 148, "latin1");
  return block;
}

/** Undefined for a block of zeros, which ends an archive. Throws for anything that is not a header of a plain file. */
export function decodeHeader(block: Buffer): TarHeader | undefined {
  const entry = decodeEntry(block);
  if (!entry) return undefined;
  if (entry.type !== "0") throw new Error("a member is not a plain file");
  return { name: entry.name, size: entry.size };
}

/** The same for a member of any type. */
export function decodeEntry(block: Buffer): TarEntry | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  const sum = Number.parseInt(block.toString("latin1", 148, 156), 8);
  const blank = Buffer.from(block);
  blank.fill(0x20, 148, 156);
  if (sum !== sumOf(blank)) throw new Error("a header is damaged");
  const end = block.indexOf(0);
  const name = block.toString("utf8", 0, Math.min(end < 0 ? 100 : end, 100));
  const size =
    block.readUInt8(124) === 0x80
      ? Number(block.readBigUInt64BE(128))
      : Number.parseInt(block.toString("latin1", 124, 135), 8);
  if (!Number.isSafeInteger(size)) throw new Error(`the size of ${name} is damaged`);
  return { name, size, type: String.fromCharCode(block.readUInt8(156)) };
}

/** Bytes that fill a member up to the next block. */
export function paddingOf(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize;
}

function octal(value: number, digits: number): string {
  return Math.max(0, Math.floor(value)).toString(8).padStart(digits, "0");
}

function sumOf(block: Buffer): number {
  return block.reduce((sum, byte) => sum + byte, 0);
}
