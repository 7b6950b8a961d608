import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { bytesOf, encode } from "../testing/cbor.ts";
import { isUsableKey } from "./public-key.ts";

const ec = (namedCurve: string) =>
  generateKeyPairSync("ec", { namedCurve }).publicKey.export({ format: "jwk" });
const ed = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
const rsa = (modulusLength: number) =>
  generateKeyPairSync("rsa", { modulusLength }).publicKey.export({ format: "jwk" });
const p256 = ec("P-256");
const [x, y] = [bytesOf(p256.x), bytesOf(p256.y)];
const off = Buffer.from(y);
off.writeUInt8(off.readUInt8(31) ^ 1, 31);
const es256 = { 1: 2, 3: -7, [-1]: 1, [-2]: x, [-3]: y };
const rsaKey = (bits: number) => {
  const { n, e } = rsa(bits);
  return { 1: 3, 3: -257, [-1]: bytesOf(n), [-2]: bytesOf(e) };
};
const edKey = { 1: 1, 3: -8, [-1]: 6, [-2]: bytesOf(ed.x) };

const cases: [what: string, key: Record<number, unknown> | Buffer, isUsable: boolean][] = [
  ["a key of ES256", es256, true],
  ["a key of EdDSA", edKey, true],
  ["a key of RS256", rsaKey(2_048), true],
  ["a key of RS256 that is too short", rsaKey(1_024), false],
  ["a point that is not on the curve", { ...es256, [-3]: off }, false],
  ["a truncated point", { ...es256, [-3]: y.subarray(0, 16) }, false],
  ["a point of another curve", { ...es256, [-1]: 2, [-2]: bytesOf(ec("P-384").x) }, false],
  ["a curve of another key", { ...es256, [-1]: 6 }, false],
  ["a key whose algorithm differs from the declared one", { ...es256, 3: -257 }, false],
  ["an algorithm that was not requested", { ...es256, 3: -35 }, false],
  ["a key of EdDSA that is too short", { ...edKey, [-2]: Buffer.alloc(31) }, false],
  ["no key at all", {}, false],
  ["a text", Buffer.from("text"), false],
  ["nothing", Buffer.alloc(0), false],
];
for (const [what, key, isUsable] of cases) {
  test(`${what} ${isUsable ? "is accepted" : "is rejected"}`, async () => {
    const bytes = Buffer.isBuffer(key) ? key : encode(toMap(key));
    assert.equal(await isUsableKey(new Uint8Array(bytes)), isUsable);
  });
}

// Keys of an object are strings; those of COSE are numbers.
function toMap(key: Record<number, unknown>): Map<number, unknown> {
  return new Map(Object.entries(key).map(([label, value]) => [Number(label), value]));
}
