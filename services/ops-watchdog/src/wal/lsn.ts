// Positions in the write-ahead log and names of its segments, as PostgreSQL writes them.

export const segmentBytes = 16 * 1024 * 1024;
const size = BigInt(segmentBytes);
const segmentsPerLog = 0x1_0000_0000n / size;

export function parseLsn(text: string): bigint {
  const [, high = "", low = ""] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text) ?? [];
  if (high === "") throw new Error(`${text} is not a position in the write-ahead log`);
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function formatLsn(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16).toUpperCase()}/${(lsn & 0xffff_ffffn).toString(16).toUpperCase()}`;
}

/** Where the segment begins that has this position. */
export function segmentStart(lsn: bigint): bigint {
  return lsn - (lsn % size);
}

export function nextSegment(lsn: bigint): bigint {
  return segmentStart(lsn) + size;
}

const hex = (value: bigint | number) => value.toString(16).toUpperCase().padStart(8, "0");

export function segmentName(timeline: number, lsn: bigint): string {
  const number = lsn / size;
  return `${hex(timeline)}${hex(number / segmentsPerLog)}${hex(number % segmentsPerLog)}`;
}

/** Undefined for every other file. */
export function parseSegment(name: string): { timeline: number; start: bigint } | undefined {
  const [, timeline, log, segment] = /^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})$/.exec(name) ?? [];
  if (timeline === undefined) return undefined;
  const start = (BigInt(`0x${log}`) * segmentsPerLog + BigInt(`0x${segment}`)) * size;
  return { timeline: Number.parseInt(timeline, 16), start };
}
