// Node can read certificates but not create them; this encodes the few ASN.1 types that one needs (X.509, RFC 5280).

import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/** A key and its certificate, both PEM. */
export type Identity = { key: string; cert: string };

export type CertificateOptions = {
  /** Common name. */
  subject: string;
  dnsNames?: readonly string[];
  /** IPv4 addresses, and `::1`. */
  addresses?: readonly string[];
  from: Date;
  until: Date;
  /** Whether it may sign others. */
  isAuthority: boolean;
};

const ecdsaWithSha256 = () => sequence(oid("1.2.840.10045.4.3.2"));

/** A new key and its certificate, signed by `issuer`, or by itself without one. */
export function makeCertificate(
  options: CertificateOptions,
  issuer?: Identity & { subject: string },
): Identity {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const serial = randomBytes(16);
  serial[0] = (serial[0] ?? 0) & 0x7f || 1;
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, serial),
    ecdsaWithSha256(),
    nameOf(issuer?.subject ?? options.subject),
    sequence(time(options.from), time(options.until)),
    nameOf(options.subject),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions(options))),
  );
  const signature = sign("sha256", body, issuer?.key ?? privateKey);
  const certificate = sequence(
    body,
    ecdsaWithSha256(),
    tagged(0x03, Buffer.concat([Buffer.from([0]), signature])),
  );
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function nameOf(subject: string): Buffer {
  return sequence(tagged(0x31, sequence(oid("2.5.4.3"), tagged(0x0c, Buffer.from(subject)))));
}

function extensions({ dnsNames = [], addresses = [], isAuthority }: CertificateOptions): Buffer[] {
  const yes = tagged(0x01, Buffer.from([0xff]));
  const names = [
    ...dnsNames.map((name) => tagged(0x82, Buffer.from(name))),
    ...addresses.map((address) => tagged(0x87, addressBytes(address))),
  ];
  // Digital signature, and certificate signing.
  const usage = isAuthority ? tagged(0x03, Buffer.from([2, 0x84])) : tagged(0x03, Buffer.from([7, 0x80]));
  return [
    sequence(oid("2.5.29.19"), yes, tagged(0x04, sequence(...(isAuthority ? [yes] : [])))),
    sequence(oid("2.5.29.15"), yes, tagged(0x04, usage)),
    sequence(oid("2.5.29.37"), tagged(0x04, sequence(oid("1.3.6.1.5.5.7.3.1")))),
    ...(names.length > 0 ? [sequence(oid("2.5.29.17"), tagged(0x04, sequence(...names)))] : []),
  ];
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  if (address === "::1") return Buffer.concat([Buffer.alloc(15), Buffer.from([1])]);
  throw new Error(`${address} is not encoded here`);
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
