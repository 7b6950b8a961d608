// Tars as nobody would make them on purpose.

import { blockBytes, paddingAfter } from "../archive/tar-header.ts";

export type MadeTar = {
  path: string;
  type?: string;
  content?: string | Buffer;
  /** What the header says instead of the truth. */
  size?: number;
  link?: string;
  checksum?: number;
};

export function makeTar(entries: readonly MadeTar[], options: { isTorn?: boolean } = {}): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? "");
    return [makeHeader(entry, content.length), content, Buffer.alloc(paddingAfter(content.length))];
  });
  return Buffer.concat(options.isTorn ? blocks : [...blocks, Buffer.alloc(2 * blockBytes)]);
}

function makeHeader({ path, type = "0", size, link = "", checksum }: MadeTar, length: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(path, 0, 100);
  block.write("0000644\0", 100);
  block.write(`${(size ?? length).toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0", 136);
  block.write(type, 156);
  block.write(link, 157);
  block.write("ustar\x0000", 257, "latin1");
  block.fill(" ", 148, 156);
  const sum = checksum ?? block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

export function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const length = bytes + String(bytes + 2).length;
  return Buffer.from(`${length}${rest}`);
}
