// Names in zips. The format has two encodings; in practice there is a third: Chinese Windows writes GBK without a flag.

import { TextDecoder } from "node:util";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const gbk = new TextDecoder("gbk", { fatal: true });
const utf8Flag = 0x800;
const unicodePathField = 0x7075;

type NameSource = {
  generalPurposeBitFlag: number;
  fileNameRaw: Buffer;
  extraFields: readonly { id: number; data: Buffer }[];
};

/** The name of an entry with forward slashes; undefined when it is not text in any encoding. */
export function zipName({ generalPurposeBitFlag, fileNameRaw, extraFields }: NameSource): string | undefined {
  const name =
    generalPurposeBitFlag & utf8Flag
      ? decoded(utf8, fileNameRaw)
      : (unicodePath(extraFields) ?? decoded(utf8, fileNameRaw) ?? decoded(gbk, fileNameRaw));
  // Some tools on Windows write their own separator.
  return name?.replaceAll("\\", "/");
}

function unicodePath(fields: NameSource["extraFields"]): string | undefined {
  const field = fields.find(({ id }) => id === unicodePathField);
  return field && field.data.length > 5 && field.data[0] === 1
    ? decoded(utf8, field.data.subarray(5))
    : undefined;
}

function decoded(decoder: TextDecoder, bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
