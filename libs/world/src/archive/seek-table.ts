// The end of a `.tar.zst`: a skippable frame with the digests of the files, one with an index of the entries, then the seek
// table of the zstd seekable format (facebook/zstd, contrib/seekable_format). Every zstd reader passes over them; ours finds
// one file with them without reading the rest. Archives of earlier releases have no digests.

const seekTableMagic = 0x184d2a5e;
const magics = { index: 0x184d2a5d, digests: 0x184d2a5c };
const footerMagic = 0x8f92eab1;
const footerBytes = 9;
/** Most memory of a frame; a table that asks for more is not ours. */
const largestFrame = 32 << 20;

/** One frame: its compressed and uncompressed length. A skippable frame decompresses to nothing. */
export type Frame = { packed: number; plain: number };

export const listHeadBytes = 8;

type ListKind = keyof typeof magics;

/** A skippable frame. */
export function encodeListFrame(kind: ListKind, content: Buffer): Buffer {
  const head = Buffer.alloc(listHeadBytes);
  head.writeUInt32LE(magics[kind], 0);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

/** True for the first bytes of such a frame of this length. */
export function isListHead(head: Buffer, about: { kind: ListKind; frameBytes: number }): boolean {
  const { kind, frameBytes } = about;
  return head.readUInt32LE(0) === magics[kind] && head.readUInt32LE(4) === frameBytes - listHeadBytes;
}

export function encodeSeekTable(frames: readonly Frame[]): Buffer {
  const table = Buffer.alloc(8 + frames.length * 8 + footerBytes);
  table.writeUInt32LE(seekTableMagic, 0);
  table.writeUInt32LE(table.length - 8, 4);
  frames.forEach(({ packed, plain }, index) => {
    table.writeUInt32LE(packed, 8 + index * 8);
    table.writeUInt32LE(plain, 12 + index * 8);
  });
  table.writeUInt32LE(frames.length, table.length - footerBytes);
  table.writeUInt32LE(footerMagic, table.length - 4);
  return table;
}

type Readable = { size: number; read: (at: number, length: number) => Promise<Buffer> };

/** The frames before the table; undefined for a file without a matching table. */
export async function readSeekTable({ size, read }: Readable): Promise<Frame[] | undefined> {
  if (size < 8 + footerBytes) return undefined;
  const footer = await read(size - footerBytes, footerBytes);
  if (footer.readUInt32LE(5) !== footerMagic) return undefined;
  const width = (footer[4] ?? 0) & 0x80 ? 12 : 8;
  const count = footer.readUInt32LE(0);
  const tableBytes = 8 + count * width + footerBytes;
  if (tableBytes > size || count > 20_000_000) return undefined;
  const table = await read(size - tableBytes, tableBytes);
  if (table.readUInt32LE(0) !== seekTableMagic || table.readUInt32LE(4) !== tableBytes - 8) return undefined;
  const frames: Frame[] = [];
  let total = tableBytes;
  for (let index = 0; index < count; index += 1) {
    const packed = table.readUInt32LE(8 + index * width);
    const plain = table.readUInt32LE(12 + index * width);
    if (plain > largestFrame || (plain > 0 && packed > largestFrame)) return undefined;
    frames.push({ packed, plain });
    total += packed;
  }
  return total === size ? frames : undefined;
}
