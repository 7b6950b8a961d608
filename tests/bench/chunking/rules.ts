// Rules that say where a file is cut. Each takes the whole file and gives the lengths of its chunks.

export type Rule = (bytes: Buffer, path: string) => number[];

const sector = 4_096;

const gear = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = (byte + 1) * 0x9e3779b1;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
});

/** FastCDC with normalized chunking: a quarter of the average at least, four times it at most. */
export function fastCdc(average: number): Rule {
  const bits = Math.log2(average);
  const hard = (2 ** (bits + 1) - 1) << (30 - bits);
  const easy = (2 ** (bits - 1) - 1) << (32 - bits);
  return (bytes) => {
    const lengths: number[] = [];
    for (let start = 0; start < bytes.length; ) {
      const end = Math.min(bytes.length, start + 4 * average);
      const normal = Math.min(end, start + average);
      let hash = 0;
      let at = Math.min(end, start + average / 4);
      for (; at < normal; at += 1) {
        hash = (hash << 1) + (gear[bytes[at] as number] as number);
        if ((hash & hard) === 0) break;
      }
      if (at === normal)
        for (; at < end; at += 1) {
          hash = (hash << 1) + (gear[bytes[at] as number] as number);
          if ((hash & easy) === 0) break;
        }
      lengths.push(at - start);
      start = at;
    }
    return lengths;
  };
}

/** Fixed lengths. */
export function fixed(length: number): Rule {
  return (bytes) =>
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
      Math.min(length, bytes.length - index * length),
    );
}

/** Cuts before sectors whose first bytes say so: no sector is split, and what moves as a whole is found again. */
export function sectors(average: number): Rule {
  return (bytes) => {
    const lengths: number[] = [];
    let start = 0;
    for (let at = sector; at < bytes.length; at += sector) {
      let hash = 0;
      for (let next = at; next < at + 64; next += 1) hash = Math.imul(hash ^ (bytes[next] ?? 0), 0x01000193);
      hash ^= hash >>> 15;
      const isCut = (hash >>> 0) % average === 0 || at - start >= 4 * average * sector || at === 2 * sector;
      if (!isCut) continue;
      lengths.push(at - start);
      start = at;
    }
    lengths.push(bytes.length - start);
    return lengths;
  };
}

/** Cuts a region file at each chunk of its table. */
export const entries: Rule = (bytes) => {
  const cuts = new Set([0, Math.min(2 * sector, bytes.length), bytes.length]);
  for (let index = 0; index < 1_024; index += 1) {
    const entry = bytes.readUInt32BE(index * 4);
    const at = (entry >>> 8) * sector;
    const end = at + (entry & 255) * sector;
    if (at === 0 || end > bytes.length) continue;
    cuts.add(at);
    cuts.add(end);
  }
  const sorted = [...cuts].sort((one, other) => one - other);
  return sorted.slice(1).map((at, index) => at - (sorted[index] as number));
};

/** One rule for region files, another for everything else. */
export function byName(regions: Rule, others: Rule): Rule {
  return (bytes, path) => (path.endsWith(".mca") ? regions(bytes, path) : others(bytes, path));
}
