// Headers of layers: ustar, with pax records for what it has no room for. Times are always 0.

type Entry = {
  path: string;
  kind: "file" | "folder" | "link";
  mode: number;
  uid: number;
  gid: number;
  size: number;
  target?: string;
};

const block = 512;
const mostOctal = 8 ** 11;
const mostId = 8 ** 7;
const types = { file: "0", folder: "5", link: "2" } as const;

export const tarEnd = Buffer.alloc(2 * block);

export function tarPadding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block);
}

export function tarHeader(entry: Entry): Buffer {
  const name = entry.kind === "folder" ? `${entry.path}/` : entry.path;
  const { target = "", size, uid, gid } = entry;
  const records: [key: string, value: string][] = [];
  if (Buffer.byteLength(name) > 100) records.push(["path", name]);
  if (Buffer.byteLength(target) > 100) records.push(["linkpath", target]);
  if (size >= mostOctal) records.push(["size", String(size)]);
  if (uid >= mostId) records.push(["uid", String(uid)]);
  if (gid >= mostId) records.push(["gid", String(gid)]);
  const header = ustar({ ...entry, path: name, target }, types[entry.kind]);
  if (records.length === 0) return header;
  const pax = Buffer.concat(records.map(([key, value]) => paxRecord(key, value)));
  const about = { path: "PaxHeaders/0", target: "", mode: 0o644, uid: 0, gid: 0, size: pax.length };
  return Buffer.concat([ustar(about, "x"), pax, tarPadding(pax.length), header]);
}

type Fields = Omit<Entry, "kind" | "target"> & { target: string };

function ustar({ path, target, mode, uid, gid, size }: Fields, type: string): Buffer {
  const header = Buffer.alloc(block);
  Buffer.from(path).copy(header, 0, 0, 100);
  octal(header, mode, [100, 8]);
  octal(header, uid < mostId ? uid : 0, [108, 8]);
  octal(header, gid < mostId ? gid : 0, [116, 8]);
  octal(header, size < mostOctal ? size : 0, [124, 12]);
  octal(header, 0, [136, 12]);
  header.fill(" ", 148, 156);
  header.write(type, 156, "latin1");
  Buffer.from(target).copy(header, 157, 0, 100);
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

function octal(header: Buffer, value: number, [at, width]: [number, number]): void {
  header.write(`${value.toString(8).padStart(width - 1, "0")}\0`, at, "latin1");
}

function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length + String(rest.length).length;
  length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
