import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { describe, test } from "node:test";
import { curveKey, ed25519Key, field, rsaKey, signedRequest } from "../testing/ssh-keys.ts";
import { parseKeyBlob, parseKeyLine } from "./key.ts";
import { readProof } from "./signed.ts";

const ed = ed25519Key();
const rsa = rsaKey(3_072);
const smallRsa = rsaKey(2_048);
const line = (type: string, blob: Buffer, comment = "ada@laptop") =>
  `${type} ${blob.toString("base64")}${comment && ` ${comment}`}`;
const edLine = line("ssh-ed25519", ed.blob);

describe("a line of a public key", () => {
  // From `ssh-keygen -lf` of OpenSSH 9.2.
  const known = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl github";
  test("has the fingerprint that OpenSSH prints", () => {
    const key = parseKeyLine(known);
    assert.ok(!("why" in key));
    assert.equal(key.fingerprint, "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
    assert.equal(key.comment, "github");
  });

  const good: Record<string, string> = {
    "an ed25519 key": edLine,
    "one without a comment": line("ssh-ed25519", ed.blob, ""),
    "one with spaces and a line end around it": `  ${edLine} \n`,
    "an RSA key of 3072 bits": line("ssh-rsa", rsa.blob),
    "a key on P-256": line("ecdsa-sha2-nistp256", curveKey("P-256").blob),
    "a key on P-384": line("ecdsa-sha2-nistp384", curveKey("P-384").blob),
    "a key on P-521": line("ecdsa-sha2-nistp521", curveKey("P-521").blob),
  };
  for (const [what, text] of Object.entries(good))
    test(`${what} is taken`, () =>
      assert.ok(!("why" in parseKeyLine(text)), JSON.stringify(parseKeyLine(text))));

  const bad: Record<string, [text: string, why: RegExp]> = {
    "an empty text": ["", /must be the type/],
    "a private key": ["-----BEGIN OPENSSH PRIVATE KEY-----\nabc", /private key/],
    "two lines": [`${edLine}\n${edLine}`, /one line/],
    "a fingerprint": ["SHA256:abc", /must be the type/],
    "options of an authorized_keys file": [`command="rm" ${edLine}`, /must be the type/],
    "a type that the key is not": [line("ssh-rsa", ed.blob), /says ssh-rsa, but the key is ssh-ed25519/],
    "an RSA key of 2048 bits": [line("ssh-rsa", smallRsa.blob), /3072 bits at least, and this one has 2048/],
    "a DSA key": [line("ssh-dss", field("ssh-dss")), /type ssh-dss are not accepted/],
    "a key on a token": [
      line("sk-ssh-ed25519@openssh.com", field("sk-ssh-ed25519@openssh.com")),
      /not accepted/,
    ],
    "a certificate": [
      line("ssh-ed25519-cert-v01@openssh.com", field("ssh-ed25519-cert-v01@openssh.com")),
      /not accepted/,
    ],
    "a key that is cut off": [line("ssh-ed25519", ed.blob.subarray(0, 40)), /damaged/],
    "a key with bytes behind it": [line("ssh-ed25519", Buffer.concat([ed.blob, field("x")])), /damaged/],
    "a length beyond the end": [line("ssh-ed25519", Buffer.from([255, 255, 255, 255, 1])), /unknown/],
    "a type of control characters": [line("x", field("\u0007\u001b[31m")), /type unknown/],
    "a point that is not on its curve": [
      line(
        "ecdsa-sha2-nistp256",
        Buffer.concat([field("ecdsa-sha2-nistp256"), field("nistp256"), field(Buffer.alloc(65, 4))]),
      ),
      /damaged/,
    ],
    "a curve that the type does not name": [
      line(
        "ecdsa-sha2-nistp256",
        Buffer.concat([field("ecdsa-sha2-nistp256"), field("nistp384"), field(Buffer.alloc(97, 4))]),
      ),
      /damaged/,
    ],
  };
  for (const [what, [text, why]] of Object.entries(bad))
    test(`${what} is refused in words`, () => {
      const key = parseKeyLine(text);
      assert.match("why" in key ? key.why : "taken", why);
    });

  test("no bytes at all make it throw", () => {
    for (let length = 0; length < ed.blob.length; length++)
      assert.ok("why" in parseKeyBlob(ed.blob.subarray(0, length)), String(length));
    for (let at = 0; at < 23; at++)
      for (const value of [0, 1, 127, 255]) parseKeyBlob(Buffer.from(ed.blob.with(at, value)));
  });
});

describe("what a client signed", () => {
  const edProof = signedRequest({ algorithm: "ssh-ed25519", blob: ed.blob });
  const signWith = (key: KeyObject, digest: string | null, signed: Buffer) => sign(digest, signed, key);
  const genuine: [algorithm: string, pair: { blob: Buffer; key: KeyObject }, digest: string | null][] = [
    ["ssh-ed25519", ed, null],
    ["rsa-sha2-256", rsa, "sha256"],
    ["rsa-sha2-512", rsa, "sha512"],
    ["ecdsa-sha2-nistp256", curveKey("P-256"), "sha256"],
    ["ecdsa-sha2-nistp384", curveKey("P-384"), "sha384"],
    ["ecdsa-sha2-nistp521", curveKey("P-521"), "sha512"],
  ];
  for (const [algorithm, { blob, key }, digest] of genuine)
    test(`${algorithm} proves the key and names the server`, () => {
      const signed = signedRequest({ algorithm, blob });
      const proof = readProof(signed, signWith(key, digest, signed));
      assert.equal(proof?.server, "survival");
      assert.deepEqual(proof?.key.blob, blob);
    });

  const other = generateKeyPairSync("ed25519").privateKey;
  const proves = (what: string, signed: Buffer, signature: Buffer) =>
    test(`a signature ${what} proves nothing`, () => assert.equal(readProof(signed, signature), undefined));
  proves("of another key", edProof, signWith(other, null, edProof));
  const creative = signedRequest({ algorithm: "ssh-ed25519", blob: ed.blob, user: "creative" });
  proves("of another request", edProof, signWith(ed.key, null, creative));
  proves("that is empty", edProof, Buffer.alloc(0));
  const sha1 = signedRequest({ algorithm: "ssh-rsa", blob: rsa.blob });
  proves("for SHA-1", sha1, signWith(rsa.key, "sha1", sha1));
  const small = signedRequest({ algorithm: "rsa-sha2-256", blob: smallRsa.blob });
  proves("by a small RSA key", small, signWith(smallRsa.key, "sha256", small));

  const odd: Record<string, Partial<Parameters<typeof signedRequest>[0]>> = {
    "with the algorithm of another type": { algorithm: "rsa-sha2-256" },
    "for a reserved name": { user: "lobby" },
    "for a name that no server can have": { user: "../../x" },
    "for another method": { method: "hostbased" },
    "for another service": { service: "ssh-userauth" },
    "of a message that is none of sign-in": { kind: 90 },
    "of a request without a signature": { isSigned: 0 },
    "without a connection": { exchange: Buffer.alloc(0) },
    "with bytes behind it": { more: Buffer.from("x") },
  };
  for (const [what, more] of Object.entries(odd)) {
    const signed = signedRequest({ algorithm: "ssh-ed25519", blob: ed.blob, ...more });
    proves(what, signed, signWith(ed.key, null, signed));
  }

  test("a request that is cut off anywhere proves nothing", () => {
    for (let length = 0; length < edProof.length; length++)
      assert.equal(readProof(edProof.subarray(0, length), Buffer.alloc(64)), undefined);
  });
});
