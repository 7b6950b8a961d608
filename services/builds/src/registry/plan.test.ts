import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CacheBounds, decidePrune, type Keepers, type Stored } from "./plan.ts";

const now = Date.parse("2026-11-22T12:00:00Z");
const hours = (count: number) => new Date(now - count * 3_600_000);
const digestOf = (name: string) => `sha256:${Buffer.from(name).toString("hex").padEnd(64, "0")}`;

const manifest = (name: string, more: Partial<Stored> = {}): Stored => ({
  repository: "packs/a",
  digest: digestOf(name),
  tags: [name],
  pushedAt: hours(48),
  bytes: 10,
  parts: [],
  ...more,
});
const nobody: Keepers = { whitelist: [], server: [], build: [], platform: [] };
const roomy: CacheBounds = { authorBytes: 1_000, bytes: 1_000, keepMs: 1_000 * 3_600_000 };
/** A layer that was used so many hours ago. */
const layer = (name: string, author: string, age: number) =>
  manifest(name, { repository: `build-cache/${author}`, pushedAt: hours(age) });

type Row = {
  stored: Stored[];
  keepers?: Partial<Keepers>;
  cache?: Partial<CacheBounds>;
  deleted: string[];
};
const rows: Record<string, Row> = {
  "what nothing keeps is deleted": { stored: [manifest("1")], deleted: ["1"] },
  "an entry of the whitelist keeps its tag": {
    stored: [manifest("1"), manifest("2")],
    keepers: { whitelist: [{ repository: "packs/a", tag: "1" }] },
    deleted: ["2"],
  },
  "a whole repository keeps its untagged manifests too, and none of another": {
    stored: [manifest("1"), manifest("2", { tags: [] }), manifest("3", { repository: "packs/ab" })],
    keepers: { whitelist: [{ repository: "packs/a" }] },
    deleted: ["3"],
  },
  "a server keeps a digest that no tag names any more": {
    stored: [manifest("1", { tags: [] }), manifest("2", { tags: ["latest"] })],
    keepers: { server: [{ repository: "packs/a", tag: "old", digest: digestOf("1") }] },
    deleted: ["2"],
  },
  "one kept tag of a digest keeps it with all its tags": {
    stored: [manifest("1", { tags: ["x", "y"] })],
    keepers: { build: [{ repository: "packs/a", tag: "y" }] },
    deleted: [],
  },
  "the same digest in another repository is another manifest": {
    stored: [manifest("1"), manifest("1", { repository: "packs/b" })],
    keepers: { platform: [{ repository: "packs/b", digest: digestOf("1") }] },
    deleted: ["1"],
  },
  "a push of the last 24 hours stays, one of 24 hours goes": {
    stored: [manifest("1", { pushedAt: hours(23.999) }), manifest("2", { pushedAt: hours(24) })],
    deleted: ["2"],
  },
  "the five newest tagged of each reserved repository stay": {
    stored: ["svc/a", "mirror/b"].flatMap((repository) =>
      Array.from({ length: 7 }, (_, age) =>
        manifest(`${repository}${age}`, { repository, pushedAt: hours(30 + age) }),
      ),
    ),
    deleted: ["svc/a5", "svc/a6", "mirror/b5", "mirror/b6"],
  },
  "untagged manifests of a reserved repository are not among the newest": {
    stored: [manifest("1", { repository: "svc/a", tags: [] })],
    deleted: ["1"],
  },
  "svcx is not a reserved prefix": { stored: [manifest("1", { repository: "svcx/a" })], deleted: ["1"] },
  "an index keeps its parts, and a part keeps no index": {
    stored: [
      manifest("index", { parts: [digestOf("p1"), digestOf("p2")] }),
      manifest("p1", { tags: [] }),
      manifest("p2", { tags: [] }),
      manifest("other", { parts: [digestOf("p1")] }),
    ],
    keepers: { whitelist: [{ repository: "packs/a", tag: "index" }] },
    deleted: ["other"],
  },
  "an index that goes takes its parts along, itself first": {
    stored: [manifest("p1", { tags: [] }), manifest("index", { parts: [digestOf("p1")] })],
    deleted: ["index", "p1"],
  },
  "what refers to a kept manifest stays, over two steps": {
    stored: [
      manifest("image"),
      manifest("provenance", { tags: [], subject: digestOf("image") }),
      manifest("signature", { tags: [], subject: digestOf("provenance") }),
      manifest("lost", { tags: [], subject: digestOf("nothing") }),
    ],
    keepers: { server: [{ repository: "packs/a", tag: "image" }] },
    deleted: ["lost"],
  },
  "of an author's layers those stay that were used last, and another author's are counted for themselves": {
    stored: [layer("a3", "a", 3), layer("a1", "a", 1), layer("b9", "b", 9), layer("a2", "a", 2)],
    cache: { authorBytes: 20 },
    deleted: ["a3"],
  },
  "all layers together have a bound, whatever was used in the last 24 hours": {
    stored: [layer("a3", "a", 3), layer("b2", "b", 2), layer("c1", "c", 1)],
    cache: { bytes: 25 },
    deleted: ["a3"],
  },
  "a layer that is too large for the bound makes room for none": {
    stored: [{ ...layer("large", "a", 1), bytes: 30 }, layer("small", "a", 2)],
    cache: { authorBytes: 20 },
    deleted: ["large"],
  },
  "a layer that no build has used for long goes, however much room there is": {
    stored: [layer("old", "a", 5), layer("young", "a", 4.999)],
    cache: { keepMs: 5 * 3_600_000 },
    deleted: ["old"],
  },
  "without a cache all its layers go": {
    stored: [layer("a1", "a", 1), manifest("image", { pushedAt: hours(1) })],
    cache: { bytes: 0 },
    deleted: ["a1"],
  },
  "manifests that refer to each other without a keeper go": {
    stored: [manifest("a", { parts: [digestOf("b")] }), manifest("b", { parts: [digestOf("a")] })],
    deleted: ["a", "b"],
  },
};

describe("what a prune deletes", () => {
  for (const [name, { stored, keepers, cache, deleted }] of Object.entries(rows)) {
    test(name, () => {
      const about = { keepers: { ...nobody, ...keepers }, cache: { ...roomy, ...cache }, now };
      const plan = decidePrune(stored, about);
      assert.deepEqual(
        plan.deleted.map(({ digest }) => digest),
        deleted.map(digestOf),
      );
    });
  }
  test("kept manifests are counted by the first reason", () => {
    const stored = [manifest("1", { pushedAt: hours(1) }), manifest("2", { pushedAt: hours(1) })];
    const keepers = { ...nobody, server: [{ repository: "packs/a", tag: "1" }] };
    const { kept } = decidePrune(stored, { keepers, cache: roomy, now });
    assert.deepEqual(kept, { server: 1, recent: 1 });
  });
  test("the bytes of layers that stay are those of the plan", () => {
    const stored = [layer("a1", "a", 1), layer("b1", "b", 1), manifest("image", { bytes: 500 })];
    const plan = decidePrune(stored, { keepers: nobody, cache: { ...roomy, authorBytes: 10 }, now });
    assert.deepEqual([plan.cacheBytes, plan.kept], [20, { cache: 2 }]);
  });
});
