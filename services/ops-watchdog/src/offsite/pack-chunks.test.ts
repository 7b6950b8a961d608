import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import type { Manifest } from "@svc/world/chunks";
import { comparePack, inOrderOfPacks } from "./pack-chunks.ts";

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
const pack = randomBytes(1_000);
const other = randomBytes(400);

type Span = [pack: number, at: number, length: number];

/** A manifest whose chunks lie there, in the order of the archive. */
function manifestOf(spans: readonly Span[], packs = [pack, other]): Manifest {
  const chunks = {
    count: spans.length,
    placeOf: (index: number) => {
      const [number = 0, at = 0, length = 0] = spans[index] ?? [];
      return { pack: number, at, length };
    },
    digestOf: (index: number) => {
      const [number = 0, at = 0, length = 0] = spans[index] ?? [];
      return digestOf((packs[number] ?? pack).subarray(at, at + length));
    },
  };
  const named = packs.map(({ length: size }, number) => ({ name: `survival-${number}.pack`, size }));
  return { archive: "survival-1.tar.zst", size: 0, sha256: "", packs: named, chunks } as unknown as Manifest;
}

async function compare(
  spans: readonly Span[],
  about: { bytes?: Buffer; pieces?: number; number?: number } = {},
) {
  const { bytes = pack, pieces = 300, number = 0 } = about;
  const manifest = manifestOf(spans);
  const source = (async function* () {
    for (let at = 0; at < bytes.length; at += pieces) yield new Uint8Array(bytes.subarray(at, at + pieces));
  })();
  return comparePack(source, { manifest, order: inOrderOfPacks(manifest), pack: number });
}

/** The pack with one other byte. */
function spoiledAt(at: number): Buffer {
  const bytes = Buffer.from(pack);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
}

describe("a pack", () => {
  const scattered: Span[] = [
    [0, 700, 100],
    [1, 0, 400],
    [0, 0, 250],
    [0, 700, 100],
    [0, 250, 350],
    [0, 999, 1],
  ];
  for (const pieces of [1, 7, 250, 300, 1_000]) {
    test(`in pieces of ${pieces} bytes is compared chunk by chunk, each once and in whatever order`, async () => {
      const found = await compare(scattered, { pieces });
      assert.deepEqual(found, {
        name: "survival-0.pack",
        sizeBytes: 1_000,
        sha256: digestOf(pack).toString("hex"),
      });
      assert.equal((await compare(scattered, { bytes: other, number: 1, pieces })).sizeBytes, 400);
    });

    for (const at of [0, 249, 250, 599, 700, 799, 999])
      test(`with another byte at ${at} is not what was written, in pieces of ${pieces}`, async () => {
        await assert.rejects(compare(scattered, { bytes: spoiledAt(at), pieces }), /is not what was written/);
      });
  }

  test("may have anything between the chunks, which the digest of all of it says", async () => {
    for (const at of [600, 699, 800, 998]) {
      const bytes = spoiledAt(at);
      assert.equal((await compare(scattered, { bytes })).sha256, digestOf(bytes).toString("hex"));
    }
  });

  test("that is cut or longer is not what was written", async () => {
    await assert.rejects(compare(scattered, { bytes: pack.subarray(0, 900) }), /has 900 of 1000 bytes/);
    await assert.rejects(compare([[0, 0, 5]], { bytes: pack.subarray(0, 900) }), /has 900 of 1000 bytes/);
    await assert.rejects(
      compare(scattered, { bytes: Buffer.concat([pack, other]) }),
      /has 1400 of 1000 bytes/,
    );
  });

  test("whose chunks lie over one another is refused", async () => {
    const over: Span[] = [
      [0, 0, 100],
      [0, 50, 100],
    ];
    await assert.rejects(compare(over), /two chunks of a pack lie over one another/);
  });

  test("of which the archive has no chunk has only a size and a digest", async () => {
    assert.equal((await compare([[1, 0, 400]])).sha256, digestOf(pack).toString("hex"));
  });
});
