// Reads fields of the SSH protocol (RFC 4251, section 5). What is too short, or no text, is undefined.

export type Reader = {
  byte: () => number | undefined;
  /** A length of four bytes and as many bytes. */
  bytes: () => Buffer | undefined;
  /** As `bytes`, in UTF-8. */
  text: () => string | undefined;
  isAtEnd: () => boolean;
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function readerOf(data: Buffer): Reader {
  let at = 0;
  const take = (length: number) => {
    if (length > data.length - at) return undefined;
    at += length;
    return data.subarray(at - length, at);
  };
  const bytes = () => {
    const length = take(4);
    return length && take(length.readUInt32BE());
  };
  return {
    byte: () => take(1)?.[0],
    bytes,
    text: () => {
      const found = bytes();
      try {
        return found && utf8.decode(found);
      } catch {
        return undefined;
      }
    },
    isAtEnd: () => at === data.length,
  };
}
