// Zips as nobody would make them on purpose: every field can lie.

import { crc32, deflateRawSync } from "node:zlib";

export type Made = {
  name: string | Buffer;
  content?: Buffer | string;
  deflate?: boolean;
  /** Unix mode with its type bits. */
  mode?: number;
  flags?: number;
  method?: number;
  /** What the directory says instead of the truth. */
  claims?: { size?: number; packedSize?: number; crc32?: number; headerAt?: number };
  extra?: Buffer;
};

export function makeZip(entries: readonly Made[], options: { zip64?: boolean; count?: number } = {}): Buffer {
  const bodies: Buffer[] = [];
  const records: Buffer[] = [];
  let at = 0;
  for (const made of entries) {
    const { local, central } = makeEntry(made, at);
    bodies.push(local);
    records.push(central);
    at += local.length;
  }
  const directory = Buffer.concat(records);
  const count = options.count ?? entries.length;
  const needs64 = options.zip64 || count > 0xfffe;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(needs64 ? 0xffff : count, 8);
  end.writeUInt16LE(needs64 ? 0xffff : count, 10);
  end.writeUInt32LE(needs64 ? 0xffffffff : directory.length, 12);
  end.writeUInt32LE(needs64 ? 0xffffffff : at, 16);
  const end64 = needs64 ? makeEnd64({ count, size: directory.length, at }) : Buffer.alloc(0);
  return Buffer.concat([...bodies, directory, end64, end]);
}

function makeEntry(made: Made, at: number): { local: Buffer; central: Buffer } {
  const content = Buffer.from(made.content ?? "");
  const name = Buffer.from(made.name as string);
  const deflate = made.deflate ?? false;
  const packed = deflate ? deflateRawSync(content) : content;
  const extra = made.extra ?? Buffer.alloc(0);
  const method = made.method ?? (deflate ? 8 : 0);
  const fields = {
    crc32: made.claims?.crc32 ?? crc32(content),
    packedSize: made.claims?.packedSize ?? packed.length,
    size: made.claims?.size ?? content.length,
  };
  const flags = made.flags ?? (typeof made.name === "string" ? 0x800 : 0);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(flags, 6);
  local.writeUInt16LE(method, 8);
  writeFields(local, fields, 14);
  local.writeUInt16LE(name.length, 26);
  const central = Buffer.alloc(46);
  central.writeUInt32LE(0x02014b50, 0);
  central.writeUInt16LE(made.mode === undefined ? 20 : (3 << 8) | 20, 4);
  central.writeUInt16LE(flags, 8);
  central.writeUInt16LE(method, 10);
  central.writeUInt16LE(0x5a21, 14);
  writeFields(central, fields, 16);
  central.writeUInt16LE(name.length, 28);
  central.writeUInt16LE(extra.length, 30);
  central.writeUInt32LE(((made.mode ?? 0) << 16) >>> 0, 38);
  central.writeUInt32LE(made.claims?.headerAt ?? at, 42);
  return { local: Buffer.concat([local, name, packed]), central: Buffer.concat([central, name, extra]) };
}

function writeFields(
  to: Buffer,
  fields: { crc32: number; packedSize: number; size: number },
  at: number,
): void {
  to.writeUInt32LE(fields.crc32, at);
  to.writeUInt32LE(fields.packedSize, at + 4);
  to.writeUInt32LE(fields.size, at + 8);
}

function makeEnd64({ count, size, at }: { count: number; size: number; at: number }): Buffer {
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(BigInt(count), 24);
  record.writeBigUInt64LE(BigInt(count), 32);
  record.writeBigUInt64LE(BigInt(size), 40);
  record.writeBigUInt64LE(BigInt(at), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(at + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator]);
}
