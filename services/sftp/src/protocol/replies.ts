// Replies of SFTP version 3. Pure.

/** An entry as clients see it: owners and modes are not those of the world. */
type Attributes = { isFolder: boolean; size: number; changedAt: Date };
export type NamedEntry = Attributes & { name: string };

const status = {
  ok: 0,
  eof: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  badMessage: 5,
  unsupported: 8,
} as const;
export type Status = keyof typeof status;

const version = packet(2, uint32(3));

export function versionReply(): Buffer {
  return version;
}

/** `message` is made one printable line: it may have names in it, and clients print it. */
export function statusReply(id: number, code: Status, message = ""): Buffer {
  const line = message.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").slice(0, 500);
  return packet(101, uint32(id), uint32(status[code]), string(line), string("en"));
}

export function handleReply(id: number, handle: string): Buffer {
  return packet(102, uint32(id), string(handle));
}

export function dataReply(id: number, data: Buffer): Buffer {
  return packet(103, uint32(id), uint32(data.length), data);
}

/** A path alone, without attributes. */
export function pathReply(id: number, path: string): Buffer {
  return packet(104, uint32(id), uint32(1), string(path), string(path), uint32(0));
}

export function entriesReply(id: number, entries: readonly NamedEntry[]): Buffer {
  const fields = entries.flatMap((entry) => [string(entry.name), string(longName(entry)), attributes(entry)]);
  return packet(104, uint32(id), uint32(entries.length), ...fields);
}

export function attributesReply(id: number, entry: Attributes): Buffer {
  return packet(105, uint32(id), attributes(entry));
}

const folderMode = 0o040755;
const fileMode = 0o100644;

function attributes({ isFolder, size, changedAt }: Attributes): Buffer {
  const at = Math.min(Math.max(0, Math.floor(changedAt.getTime() / 1_000)), 2 ** 32 - 1);
  const fields = Buffer.alloc(4 + 8 + 4 + 8);
  fields.writeUInt32BE(1 | 4 | 8);
  fields.writeBigUInt64BE(BigInt(size), 4);
  fields.writeUInt32BE(isFolder ? folderMode : fileMode, 12);
  fields.writeUInt32BE(at, 16);
  fields.writeUInt32BE(at, 20);
  return fields;
}

/** A line as `ls -l` prints it, which some clients parse. */
function longName({ name, isFolder, size, changedAt }: NamedEntry): string {
  const [day = "", month = "", year = ""] = changedAt.toUTCString().slice(5, 16).split(" ");
  const kind = isFolder ? "drwxr-xr-x" : "-rw-r--r--";
  return `${kind} 1 svc svc ${String(size).padStart(12)} ${month} ${day}  ${year} ${name}`;
}

function packet(type: number, ...fields: Buffer[]): Buffer {
  const length = fields.reduce((sum, field) => sum + field.length, 1);
  return Buffer.concat([uint32(length), Buffer.of(type), ...fields]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint32(bytes.length), bytes]);
}
