import assert from "node:assert/strict";
import { test } from "node:test";
import { type BuiltImage, decideOutdated, tagsOf, type UsedImages } from "./decide.ts";

const host = "registry.test:5000";
const at = (n: number) => `sha256:${String(n).repeat(64)}`;
const base = `${host}/bases/one:1`;
const pack = `${host}/packs/a:1`;
const built = (more: Partial<BuiltImage> = {}): BuiltImage => ({
  image_ref: pack,
  build_id: "b1",
  bases: [{ image_ref: base, digest: at(1) }],
  unfinished: null,
  ...more,
});
const decide = (images: BuiltImage[], used: UsedImages[], digests: Record<string, string | null>) =>
  decideOutdated({ built: images, used, host }, new Map(Object.entries(digests)));

const images: Record<string, [built: BuiltImage, now: string | null | undefined, listed: boolean]> = {
  "whose base has moved is listed": [built(), at(2), true],
  "whose base stands is not": [built(), at(1), false],
  "whose base is gone is not: nothing could be built": [built(), null, false],
  "whose base was not asked for is not": [built(), undefined, false],
  "without a known base is not": [built({ bases: [] }), at(2), false],
};
for (const [fact, [image, now, listed]] of Object.entries(images))
  test(`an image ${fact}`, () => {
    const found = decide([image], [], now === undefined ? {} : { [base]: now }).images;
    assert.equal(found.length, listed ? 1 : 0);
    if (listed) assert.deepEqual(found[0]?.moved, [{ image_ref: base, digest: at(1), now: at(2) }]);
  });

test("an image that is built again names that build", () => {
  const [found] = decide([built({ unfinished: "b2" })], [], { [base]: at(2) }).images;
  assert.deepEqual([found?.build_id, found?.rebuild], ["b1", "b2"]);
});

const servers: Record<string, [ref: string, now: string | null, listed: boolean]> = {
  "on an older digest is listed": [`${pack}@${at(1)}`, at(2), true],
  "on the digest of its tag is not": [`${pack}@${at(2)}`, at(2), false],
  "whose tag is gone is not": [`${pack}@${at(1)}`, null, false],
  "that is pinned without a tag is not": [`${host}/packs/a@${at(1)}`, at(2), false],
  "that is not pinned is not": [pack, at(2), false],
  "with an image of another registry is not": [`elsewhere/a:1@${at(1)}`, at(2), false],
};
for (const [fact, [ref, now, listed]] of Object.entries(servers))
  test(`a server ${fact}`, () => {
    const found = decide([], [{ server: "s", images: [ref] }], { [pack]: now, "elsewhere/a:1": now }).servers;
    const wanted = { server: "s", image_ref: ref, newest: pack, digest: at(2) };
    assert.deepEqual(found, listed ? [wanted] : []);
  });

test("each tag is asked for once, and a base that is pinned never moves", () => {
  const pinned = { image_ref: `${base}@${at(1)}`, digest: at(1) };
  const used = [{ server: "s", images: [`${pack}@${at(1)}`, `${pack}@${at(2)}`, "elsewhere/a:1"] }];
  assert.deepEqual(tagsOf([built(), built(), built({ bases: [pinned] })], used, host), [base, pack]);
});
