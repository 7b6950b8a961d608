import { generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

/** A key and its self-signed certificate, both PEM. */
export type ServerIdentity = { key: string; cert: string };

const dayMs = 86_400_000;
const validDays = 3650;

/** Reads the identity of a server from `keyFile` and `certFile`, or creates one (keys with mode 0600). */
export function ensureIdentity(keyFile: string, certFile: string): ServerIdentity {
  const known = readIdentity(keyFile, certFile);
  if (known) return known;
  const made = makeIdentity(new Date());
  writeFileSync(keyFile, made.key, { mode: 0o600 });
  writeFileSync(certFile, made.cert);
  return made;
}

function readIdentity(keyFile: string, certFile: string): ServerIdentity | undefined {
  try {
    const found = { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8") };
    const ends = Date.parse(new X509Certificate(found.cert).validTo);
    return ends - Date.now() > 30 * dayMs ? found : undefined;
  } catch {
    return undefined;
  }
}

// Node can read certificates but not create them; this encodes the few ASN.1 types that one needs (X.509, RFC 5280).
function makeIdentity(now: Date): ServerIdentity {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const algorithm = sequence(oid("1.2.840.10045.4.3.2"));
  const name = sequence(
    tagged(0x31, sequence(oid("2.5.4.3"), tagged(0x0c, Buffer.from("svc local cluster")))),
  );
  const start = new Date(now.getTime() - dayMs);
  const end = new Date(now.getTime() + validDays * dayMs);
  const serial = randomBytes(16);
  serial[0] = (serial[0] ?? 0) & 0x7f || 1;
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, serial),
    algorithm,
    name,
    sequence(time(start), time(end)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions())),
  );
  const signature = sign("sha256", body, privateKey);
  const certificate = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function extensions(): Buffer[] {
  const yes = tagged(0x01, Buffer.from([0xff]));
  const names = sequence(
    tagged(0x82, Buffer.from("localhost")),
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
    tagged(0x87, Buffer.concat([Buffer.alloc(15), Buffer.from([1])])),
  );
  // Digital signature and certificate signing: clients trust this one certificate as their authority.
  const usage = tagged(0x03, Buffer.from([2, 0x84]));
  return [
    sequence(oid("2.5.29.19"), yes, tagged(0x04, sequence(yes))),
    sequence(oid("2.5.29.15"), yes, tagged(0x04, usage)),
    sequence(oid("2.5.29.37"), tagged(0x04, sequence(oid("1.3.6.1.5.5.7.3.1")))),
    sequence(oid("2.5.29.17"), tagged(0x04, names)),
  ];
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = rest.flatMap((part) => {
    const groups = [part & 0x7f];
    for (let value = part >>> 7; value > 0; value >>>= 7) groups.unshift((value & 0x7f) | 0x80);
    return groups;
  });
  return tagged(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, "").slice(0, 14);
  // UTCTime until 2049, as RFC 5280 requires.
  const early = date.getUTCFullYear() < 2050;
  return tagged(early ? 0x17 : 0x18, Buffer.from(`${early ? digits.slice(2) : digits}Z`));
}
