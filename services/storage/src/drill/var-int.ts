// Numbers and texts as Minecraft writes them.

/** Seven bits a byte, the lowest first; at most five bytes. */
export const varInt = {
  write(value: number): Buffer {
    const bytes: number[] = [];
    let left = value >>> 0;
    do {
      const low = left & 0x7f;
      left >>>= 7;
      bytes.push(left === 0 ? low : low | 0x80);
    } while (left !== 0);
    return Buffer.from(bytes);
  },
  /** Undefined while it is not all there; throws when it is none. */
  read(bytes: Buffer, from: number): { value: number; next: number } | undefined {
    let value = 0;
    for (let index = 0; index < 5; index++) {
      const byte = bytes[from + index];
      if (byte === undefined) return undefined;
      value |= (byte & 0x7f) << (7 * index);
      if ((byte & 0x80) === 0) return { value, next: from + index + 1 };
    }
    throw new Error("a number of the server is longer than any number");
  },
};

export function text(value: string): Buffer {
  const bytes = Buffer.from(value, "utf8");
  return Buffer.concat([varInt.write(bytes.length), bytes]);
}
