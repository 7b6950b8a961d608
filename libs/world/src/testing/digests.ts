// Archives with other digests than they were written with.

import { encodeListFrame, encodeSeekTable, type Frame, listHeadBytes } from "../archive/seek-table.ts";

/** An archive of ours whose frame of digests is another one; undefined: without that frame, as earlier releases wrote it. */
export function withDigests(packed: Buffer, change: (digests: Buffer) => Buffer | undefined): Buffer {
  const count = packed.readUInt32LE(packed.length - 9);
  const tableAt = packed.length - (8 + count * 8 + 9);
  const frames: Frame[] = Array.from({ length: count }, (_, index) => ({
    packed: packed.readUInt32LE(tableAt + 8 + index * 8),
    plain: packed.readUInt32LE(tableAt + 12 + index * 8),
  }));
  const lists = frames.splice(-2);
  const [digests, index] = lists.map(({ packed: length }) => length) as [number, number];
  const dataEnd = tableAt - digests - index;
  const changed = change(packed.subarray(dataEnd + listHeadBytes, dataEnd + digests));
  const others = [
    ...(changed ? [encodeListFrame("digests", changed)] : []),
    packed.subarray(dataEnd + digests, tableAt),
  ];
  const table = [...frames, ...others.map(({ length }) => ({ packed: length, plain: 0 }))];
  return Buffer.concat([packed.subarray(0, dataEnd), ...others, encodeSeekTable(table)]);
}
