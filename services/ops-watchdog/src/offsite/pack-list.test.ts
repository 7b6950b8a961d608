import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { keyOfManifest } from "./object-key.ts";
import { decodeList, encodeList, noPacks, type PackList } from "./pack-list.ts";

const pack = (letter: string) => ({
  name: `survival-${letter.repeat(32)}.pack`,
  sizeBytes: 1_000,
  sha256: letter.repeat(64),
});

function aList(): PackList {
  const list = noPacks();
  for (const letter of ["b", "a", "c"]) list.packs.set(pack(letter).name, pack(letter));
  for (const [at, letters] of ["ab", "b", ""].entries()) {
    const archive = `survival-${1_700_000_000 + at}000000000.tar.zst`;
    const packs = [...letters].map(pack);
    const copy = { archive, sizeBytes: 5_000, sha256: "1".repeat(64), manifestBytes: 300 + at, packs };
    list.copies.set(keyOfManifest(archive), { tag: `"${at}"`, copy });
  }
  return { ...list, retiredAt: new Map([[pack("c").name, 1_700_000_000_000]]) };
}

describe("the list of packs", () => {
  test("is read as it was written, and its text does not depend on the order", () => {
    const list = aList();
    const read = decodeList(encodeList(list));
    assert.deepEqual([...read.copies], [...list.copies]);
    assert.deepEqual([...read.retiredAt], [...list.retiredAt]);
    assert.equal(read.packs.size, 3);
    const turned = {
      ...list,
      copies: new Map([...list.copies].reverse()),
      packs: new Map([...list.packs].reverse()),
    };
    assert.equal(encodeList(turned), encodeList(list));
    assert.equal(encodeList(read), encodeList(list));
  });

  for (const [fact, text] of [
    ["no JSON", "{"],
    ["of another format", '{"format":2,"packs":[],"copies":[],"retired":{}}'],
    ["a list with an entry of another shape", '{"format":1,"packs":[["a",1]],"copies":[],"retired":{}}'],
    ["a list with packs that it does not have", encodeList(aList()).replace("[0,1]", "[0,9]")],
  ])
    test(`is not taken for one where it is ${fact}`, () => assert.throws(() => decodeList(text ?? "")));
});
