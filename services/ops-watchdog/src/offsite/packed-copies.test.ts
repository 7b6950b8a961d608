import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sealedSize } from "@svc/sealed";
import { keyOfManifest, keyOfPack } from "./object-key.ts";
import { betterState, type PackedCopy, packedStateOf, packsIn } from "./packed-copies.ts";

const name = "survival-1700000000000000000.tar.zst";
const pack = (letter: string) => `survival-${letter.repeat(32)}.pack`;
const sha256 = "1".repeat(64);
const wanted = { archive: name, size_bytes: 5_000, sha256 };
const copyOf = (letters: string, about: Partial<PackedCopy> = {}): PackedCopy => ({
  archive: name,
  sizeBytes: 5_000,
  sha256,
  manifestBytes: 300,
  packs: [...letters].map((one) => ({ name: pack(one), sizeBytes: 1_000, sha256: one.repeat(64) })),
  ...about,
});

/** What is listed, by key: plain sizes. */
function stateOf(listed: Record<string, number>, copy: PackedCopy | undefined, others: PackedCopy[] = []) {
  const copies = new Map(others.map((one) => [keyOfManifest(one.archive), one]));
  if (copy) copies.set(keyOfManifest(name), copy);
  const sizeOf = (key: string) => (key in listed ? sealedSize(listed[key] ?? 0) : undefined);
  return packedStateOf(
    wanted,
    { copies, digests: packsIn(copies) },
    {
      find: (key) => {
        const sizeBytes = sizeOf(key);
        return sizeBytes === undefined ? undefined : { key, sizeBytes, etag: "", modifiedAt: undefined };
      },
      stateOf: (key, sizeBytes) =>
        sizeOf(key) === undefined ? "none" : sizeOf(key) === sizeBytes ? "whole" : "not_whole",
    },
  );
}

const manifest = keyOfManifest(name);
const whole = { [manifest]: 300, [keyOfPack(pack("a"))]: 1_000, [keyOfPack(pack("b"))]: 1_000 };
const without = (key: string) => Object.fromEntries(Object.entries(whole).filter(([one]) => one !== key));
const other = "survival-1800000000000000000.tar.zst";
const contradicting = copyOf("", {
  archive: other,
  packs: [{ name: pack("b"), sizeBytes: 1_000, sha256: "f".repeat(64) }],
});

describe("a copy in packs", () => {
  const cases: [fact: string, ...about: Parameters<typeof stateOf>, expected: ReturnType<typeof stateOf>][] =
    [
      ["is whole with its manifest and all its packs", whole, copyOf("ab"), [], "whole"],
      [
        "is whole without packs that only others name",
        without(keyOfPack(pack("b"))),
        copyOf("a"),
        [],
        "whole",
      ],
      ["of no chunk is whole with its manifest", { [manifest]: 300 }, copyOf(""), [], "whole"],
      ["is none without a manifest, whatever packs are there", without(manifest), undefined, [], "none"],
      ["is not whole where its manifest cannot be read", whole, undefined, [], "not_whole"],
      [
        "is not whole where its manifest was cut",
        { ...whole, [manifest]: 299 },
        copyOf("ab"),
        [],
        "not_whole",
      ],
      [
        "is not whole for an archive of another size",
        whole,
        copyOf("ab", { sizeBytes: 5_001 }),
        [],
        "not_whole",
      ],
      ["is not whole for another archive", whole, copyOf("ab", { sha256: "2".repeat(64) }), [], "not_whole"],
      ["is not whole without one of its packs", without(keyOfPack(pack("b"))), copyOf("ab"), [], "not_whole"],
      [
        "is not whole with a pack that was cut",
        { ...whole, [keyOfPack(pack("a"))]: 999 },
        copyOf("ab"),
        [],
        "not_whole",
      ],
      [
        "is not whole where another manifest says of a pack that it is something else",
        whole,
        copyOf("ab"),
        [contradicting],
        "not_whole",
      ],
      ["is whole although others contradict one another", whole, copyOf("a"), [contradicting], "whole"],
    ];
  for (const [fact, listed, copy, others, expected] of cases)
    test(fact, () => assert.equal(stateOf(listed, copy, others), expected));
});

describe("of the two forms", () => {
  for (const [one, second, expected] of [
    ["whole", "none", "whole"],
    ["whole", "not_whole", "whole"],
    ["not_whole", "whole", "whole"],
    ["none", "not_whole", "not_whole"],
    ["not_whole", "none", "not_whole"],
    ["none", "none", "none"],
  ] as const)
    test(`${one} and ${second} is ${expected}`, () => assert.equal(betterState(one, second), expected));
});
