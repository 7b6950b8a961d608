import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { createSealedBody } from "./body.ts";
import { headerBytes, plainSize, sealedSegmentBytes, sealedSize, segmentBytes } from "./format.ts";
import { generateKey, type KeyRing } from "./key.ts";
import { open } from "./open.ts";
import { reseal } from "./reseal.ts";
import { seal } from "./seal.ts";

const ringOf = (...keys: ReturnType<typeof generateKey>[]): KeyRing => {
  const [active = generateKey(), ...older] = keys;
  return { active, older };
};
const key = generateKey();
const ring = ringOf(key);

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  // A chunk of a body is valid until the next one is asked for.
  for await (const chunk of source) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** The bytes in chunks of changing sizes. */
function* chunksOf(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const sealed = (plain: Buffer) => collect(seal(chunksOf(plain, [70_000]), key));

/** What `open` released before it failed, and why it failed. */
async function openAll(bytes: Buffer, keys = ring): Promise<{ released: Buffer; problem: string }> {
  const released: Buffer[] = [];
  try {
    for await (const chunk of open(chunksOf(bytes, [4_099]), keys)) released.push(chunk);
    return { released: Buffer.concat(released), problem: "none" };
  } catch (error) {
    return {
      released: Buffer.concat(released),
      problem: (error as { problem?: string }).problem ?? String(error),
    };
  }
}

describe("the size of a sealed object", () => {
  const sizes: [number, number][] = [
    [0, 31],
    [1, 32],
    [segmentBytes, 15 + segmentBytes + 16],
    [segmentBytes + 1, 15 + segmentBytes + 1 + 32],
    [10 * segmentBytes, 15 + 10 * (segmentBytes + 16)],
  ];
  for (const [plain, wanted] of sizes) {
    test(`${plain} bytes become ${wanted}`, async () => {
      assert.equal(sealedSize(plain), wanted);
      assert.equal(plainSize(wanted), plain);
      assert.equal((await sealed(randomBytes(plain))).length, wanted);
    });
  }

  test("a size that no object has is recognised", () => {
    const possible = new Set(Array.from({ length: 3 * segmentBytes }, (_, plain) => sealedSize(plain)));
    for (let size = 0; size < sealedSize(3 * segmentBytes); size += 1)
      assert.equal(plainSize(size) !== undefined, possible.has(size), `size ${size}`);
  });

  for (const wrong of [-1, 1.5, Number.NaN, 2 ** 48 + 1])
    test(`${wrong} bytes cannot be sealed`, () => assert.throws(() => sealedSize(wrong), RangeError));
});

describe("what is sealed is opened", () => {
  const sizes = [0, 1, 15, 16, segmentBytes - 1, segmentBytes, segmentBytes + 1, 3 * segmentBytes, 200_000];
  const chunkings = [[1_000_000], [1, 7, 65_535], [segmentBytes], [sealedSegmentBytes, 3]];
  for (const size of sizes) {
    test(`${size} bytes, cut in any way`, async () => {
      const plain = randomBytes(size);
      for (const chunking of chunkings) {
        const object = await collect(seal(chunksOf(plain, chunking), key));
        assert.ok((await collect(open(chunksOf(object, chunking), ring))).equals(plain));
      }
    });
  }

  test("empty chunks in between do not count", async () => {
    const object = await collect(seal([Buffer.alloc(0), Buffer.from("a"), Buffer.alloc(0)], key));
    assert.equal((await collect(open([Buffer.alloc(0), object, Buffer.alloc(0)], ring))).toString(), "a");
  });

  test("two objects of one plaintext share nothing but the magic", async () => {
    const plain = Buffer.alloc(1_000);
    const [one, two] = [await sealed(plain), await sealed(plain)];
    assert.ok(one.subarray(0, 8).equals(Buffer.from("SVCSEAL1")));
    assert.ok(!one.subarray(8, headerBytes).equals(two.subarray(8, headerBytes)));
    assert.ok(!one.subarray(headerBytes, 100).equals(two.subarray(headerBytes, 100)));
  });

  test("an older key of the ring opens it, and the reader learns which", async () => {
    const used: string[] = [];
    const object = await sealed(Buffer.from("old"));
    const rotated = ringOf(generateKey(), key);
    const plain = await collect(open([object], rotated, { onKey: ({ id }) => used.push(id) }));
    assert.equal(plain.toString(), "old");
    assert.deepEqual(used, [key.id]);
  });

  test("the reader sets the pace", async () => {
    let read = 0;
    function* source() {
      for (; read < 100; read += 1) yield Buffer.alloc(segmentBytes);
    }
    const opened = open(seal(source(), key), ring);
    await opened.next();
    assert.ok(read < 6, `${read} segments were read for one`);
    await opened.return(undefined);
  });
});

describe("a changed object", () => {
  const plain = randomBytes(3 * segmentBytes + 100);
  const segment = (object: Buffer, number: number) =>
    object.subarray(
      headerBytes + number * sealedSegmentBytes,
      headerBytes + (number + 1) * sealedSegmentBytes,
    );
  const rebuild = (object: Buffer, numbers: number[]) =>
    Buffer.concat([object.subarray(0, headerBytes), ...numbers.map((number) => segment(object, number))]);
  const changes: [string, (object: Buffer, other: Buffer) => Buffer, string][] = [
    ["an empty file", () => Buffer.alloc(0), "truncated"],
    ["half a header", (object) => object.subarray(0, 10), "truncated"],
    ["a header alone", (object) => object.subarray(0, headerBytes), "truncated"],
    ["other bytes", () => randomBytes(200), "not_sealed"],
    ["a gzip file", () => Buffer.from([0x1f, 0x8b, 8, 0]), "not_sealed"],
    ["the first three segments", (object) => rebuild(object, [0, 1, 2]), "truncated"],
    ["the first segment", (object) => rebuild(object, [0]), "truncated"],
    ["a last segment without its tag", (object) => object.subarray(0, -16), "damaged"],
    ["a last segment of five bytes", (object) => object.subarray(0, -111), "truncated"],
    ["two segments exchanged", (object) => rebuild(object, [0, 2, 1, 3]), "damaged"],
    ["the first two exchanged", (object) => rebuild(object, [1, 0, 2, 3]), "unreadable"],
    ["a segment twice", (object) => rebuild(object, [0, 1, 1, 2, 3]), "damaged"],
    ["a segment left out", (object) => rebuild(object, [0, 2, 3]), "damaged"],
    ["the last segment twice", (object) => rebuild(object, [0, 1, 2, 3, 3]), "damaged"],
    ["a byte more", (object) => Buffer.concat([object, Buffer.from([0])]), "damaged"],
    [
      "the prefix of another object",
      (object, other) => Buffer.concat([other.subarray(0, headerBytes), object.subarray(headerBytes)]),
      "unreadable",
    ],
    [
      "a segment of another object",
      (object, other) =>
        Buffer.concat([rebuild(object, [0]), segment(other, 1), segment(object, 2), segment(object, 3)]),
      "damaged",
    ],
  ];
  for (const [what, change, wanted] of changes) {
    test(`${what} is ${wanted}, and only genuine bytes were released`, async () => {
      const { released, problem } = await openAll(change(await sealed(plain), await sealed(plain)));
      assert.equal(problem, wanted);
      assert.ok(released.equals(plain.subarray(0, released.length)));
    });
  }

  test("bytes after a full last segment are trailing", async () => {
    const full = await sealed(plain.subarray(0, segmentBytes));
    assert.equal((await openAll(Buffer.concat([full, randomBytes(sealedSegmentBytes)]))).problem, "trailing");
  });

  test("another key is named by its absence", async () => {
    const other = ringOf(generateKey());
    await assert.rejects(collect(open([await sealed(plain)], other)), {
      name: "SealedError",
      problem: "unreadable",
      message: new RegExp(other.active.id),
    });
  });

  test("every single changed byte of a small object is found", async () => {
    const object = await sealed(Buffer.from("a world"));
    for (let at = 0; at < object.length; at += 1) {
      for (const flip of [1, 0x80, 0xff]) {
        const changed = Buffer.from(object);
        changed[at] = (changed[at] ?? 0) ^ flip;
        const { released, problem } = await openAll(changed);
        assert.notEqual(problem, "none", `byte ${at}`);
        assert.equal(released.length, 0);
      }
    }
  });

  test("every cut of a small object is found", async () => {
    const object = await sealed(Buffer.from("a world"));
    for (let size = 0; size < object.length; size += 1)
      assert.notEqual((await openAll(object.subarray(0, size))).problem, "none", `${size} bytes`);
  });

  test("random changes of a large object are found, and nothing after them is released", async () => {
    const object = await sealed(plain);
    for (let turn = 0; turn < 200; turn += 1) {
      const at = randomBytes(4).readUInt32BE() % object.length;
      const changed = Buffer.from(object);
      changed[at] = (changed[at] ?? 0) ^ (1 << (turn % 8));
      const { released, problem } = await openAll(changed);
      assert.notEqual(problem, "none", `byte ${at}`);
      const before = Math.max(0, Math.floor((at - headerBytes) / sealedSegmentBytes)) * segmentBytes;
      assert.ok(released.equals(plain.subarray(0, before)), `byte ${at}`);
    }
  });
});

describe("a body that is read again", () => {
  const plain = randomBytes(3 * segmentBytes + 100);
  const bodyOf = (source: Buffer, state?: string) =>
    createSealedBody({
      key,
      plainBytes: plain.length,
      readPlain: (from) => collectable(source.subarray(from)),
      state,
    });
  async function* collectable(bytes: Buffer) {
    yield* chunksOf(bytes, [50_000]);
  }

  test("from any byte gives the same bytes, also in another process", async () => {
    const body = bodyOf(plain);
    const whole = await collect(body.read(0));
    assert.equal(whole.length, body.sizeBytes);
    assert.ok((await collect(open([whole], ring))).equals(plain));
    const later = bodyOf(plain, body.state);
    const places = [
      0,
      1,
      14,
      15,
      16,
      sealedSegmentBytes + 14,
      sealedSegmentBytes + 15,
      150_000,
      whole.length - 1,
      whole.length,
    ];
    for (const from of places) {
      assert.ok((await collect(body.read(from))).equals(whole.subarray(from)), `from ${from}`);
      assert.ok((await collect(later.read(from))).equals(whole.subarray(from)), `from ${from} later`);
    }
  });

  test("may have two readers at once", async () => {
    const body = bodyOf(plain);
    for (const whole of await Promise.all([collect(body.read(0)), collect(body.read(0))]))
      assert.ok((await collect(open([whole], ring))).equals(plain));
  });

  test("refuses a segment that changed, before a byte of it is released", async () => {
    const source = Buffer.from(plain);
    const body = bodyOf(source);
    await collect(body.read(0));
    source[segmentBytes + 5] = (source[segmentBytes + 5] ?? 0) ^ 1;
    const released: Uint8Array[] = [];
    await assert.rejects(
      async () => {
        for await (const chunk of body.read(headerBytes)) released.push(chunk);
      },
      { problem: "source_changed" },
    );
    assert.equal(Buffer.concat(released).length, sealedSegmentBytes);
  });

  for (const [what, source] of [
    ["shorter", plain.subarray(1)],
    ["longer", Buffer.concat([plain, Buffer.alloc(70_000)])],
  ] as const) {
    test(`refuses a source that is ${what}`, async () => {
      await assert.rejects(collect(bodyOf(source).read(0)), { problem: "source_changed" });
    });
  }

  test("refuses the state of a body under another key", () => {
    const { state } = createSealedBody({
      key: generateKey(),
      plainBytes: 0,
      readPlain: () => collectable(plain),
    });
    assert.throws(() => bodyOf(plain, state), { problem: "key" });
  });
});

describe("re-sealing", () => {
  test("gives the same plaintext under the new key, from any byte", async () => {
    const plain = randomBytes(2 * segmentBytes + 7);
    const object = await sealed(plain);
    const rotated = ringOf(generateKey(), key);
    async function* readSealed() {
      yield* chunksOf(object, [30_000]);
    }
    const body = reseal({ ring: rotated, sealedBytes: object.length, readSealed });
    const whole = await collect(body.read(0));
    assert.equal(whole.length, object.length);
    assert.ok((await collect(open([whole], ringOf(rotated.active)))).equals(plain));
    assert.ok((await collect(body.read(100_000))).equals(whole.subarray(100_000)));
  });

  test("fails for a damaged object rather than seal it anew", async () => {
    const object = await sealed(randomBytes(1_000));
    object[500] = (object[500] ?? 0) ^ 1;
    async function* readSealed() {
      yield object;
    }
    await assert.rejects(collect(reseal({ ring, sealedBytes: object.length, readSealed }).read(0)), {
      problem: "unreadable",
    });
  });
});
