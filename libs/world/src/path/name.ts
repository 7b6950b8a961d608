// Names as the file system holds them. Most are UTF-8; where one is not (an old zip unpacked by a plugin), its bytes are
// kept as lone surrogates U+DC80..U+DCFF, so that such a file is archived, restored and removed like any other.

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lone = /[\udc80-\udcff]/;

/** Decodes the bytes of a name; `encodeName` returns the same bytes. */
export function decodeName(bytes: Buffer): string {
  try {
    return strict.decode(bytes);
  } catch {
    let name = "";
    for (const byte of bytes) name += String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte);
    return name;
  }
}

/** As `decodeName`, for each name of a path separately: one that is not UTF-8 does not affect the others. */
export function decodePath(bytes: Buffer): string {
  try {
    return strict.decode(bytes);
  } catch {
    const names: string[] = [];
    for (let at = 0; at <= bytes.length; ) {
      const end = bytes.indexOf(0x2f, at);
      names.push(decodeName(bytes.subarray(at, end < 0 ? bytes.length : end)));
      at = end < 0 ? bytes.length + 1 : end + 1;
    }
    return names.join("/");
  }
}

export function encodeName(name: string): Buffer {
  if (name.isWellFormed() || !lone.test(name)) return Buffer.from(name);
  return Buffer.concat(
    Array.from(name, (char) => {
      const unit = char.charCodeAt(0);
      return char.length === 1 && unit >= 0xdc80 && unit <= 0xdcff
        ? Buffer.of(unit - 0xdc00)
        : Buffer.from(char);
    }),
  );
}

/** True for a name whose bytes are not UTF-8. */
export function isRawName(name: string): boolean {
  return !name.isWellFormed();
}

const nameBytes = 255;

/** Why a text cannot be the name of one file or folder on disk; undefined when it can. */
export function whyNoEntry(name: string): string | undefined {
  if (name === "" || name === ".") return "a name is empty";
  if (name === "..") return "the path must not go up";
  if (name.includes("/")) return "a name must not contain a slash";
  if (name.includes("\0")) return "a name must not contain a NUL";
  if (name.length * 3 > nameBytes && encodeName(name).length > nameBytes)
    return "a name is longer than 255 bytes";
  return undefined;
}
