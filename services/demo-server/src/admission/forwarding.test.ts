import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { verifyForwarding } from "./forwarding.ts";

const secret = "shared by proxy and servers";
const uuid = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

const text = (value: string) => {
  const bytes = Buffer.from(value);
  return Buffer.concat([varInt(bytes.length), bytes]);
};

function varInt(value: number): Buffer {
  return value < 0x80
    ? Buffer.of(value)
    : Buffer.concat([Buffer.of((value & 0x7f) | 0x80), varInt(value >>> 7)]);
}

const profile = (version: number) =>
  Buffer.concat([
    varInt(version),
    text("203.0.113.9"),
    Buffer.from(uuid.replaceAll("-", ""), "hex"),
    text("Notch"),
    varInt(2),
    Buffer.concat([text("textures"), text("x".repeat(300)), Buffer.of(1), text("signed")]),
    Buffer.concat([text("plain"), text("value"), Buffer.of(0)]),
  ]);

const sign = (body: Buffer, key = secret) =>
  Buffer.concat([createHmac("sha256", key).update(body).digest(), body]);

for (const version of [1, 2, 3, 4]) {
  test(`version ${version} of the forwarded data is read`, () => {
    const chatKey = version === 2 || version === 3 ? Buffer.alloc(40, 7) : Buffer.alloc(0);
    const player = verifyForwarding(sign(Buffer.concat([profile(version), chatKey])), ["the next", secret]);
    assert.deepEqual(player, {
      address: "203.0.113.9",
      uuid,
      name: "Notch",
      properties: [
        { name: "textures", value: "x".repeat(300), signature: "signed" },
        { name: "plain", value: "value" },
      ],
    });
  });
}

const signed = sign(profile(1));
const refused: Record<string, Buffer> = {
  "nothing at all": Buffer.alloc(0),
  "a signature without data": signed.subarray(0, 32),
  "another secret": sign(profile(1), "guess"),
  "data changed after signing": Buffer.concat([signed.subarray(0, -1), Buffer.of(9)]),
  "data cut off and signed": sign(profile(1).subarray(0, -3)),
  "a version that does not exist yet": sign(profile(5)),
  "a text of negative length": sign(Buffer.concat([varInt(1), Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f)])),
  "a number without an end": sign(Buffer.alloc(12, 0xff)),
};

for (const [name, data] of Object.entries(refused)) {
  test(`${name} is not a proof of a proxy`, () =>
    assert.equal(verifyForwarding(data, ["the next", secret]), undefined));
}
