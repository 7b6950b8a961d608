import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gameVersions, protocolOf, versionLabel } from "@svc/proto";
import { repositoryOf, suggestImage, tagOf, type VersionImage } from "./suggest.ts";

const image = (tag: string, version = tag): VersionImage => ({ image_ref: `host/game:${tag}`, version });
const counted = (counts: Record<string, number>) =>
  Object.entries(counts).map(([version, players]) => ({ protocol: protocolOf(version) ?? -1, players }));
const all = ["1.20.6", "1.21.1", "1.21.4", "26.1"].map((tag) => image(tag));
const standard = "host/game:1.21.4";
const none = { players: 0, of: 0 };

type Case = [
  fact: string,
  counts: Record<string, number>,
  images: VersionImage[],
  expected: [tag: string, players: number, of: number],
];
const cases: Case[] = [
  ["the version that most players have is taken", { "1.21.1": 14, "1.21.4": 6 }, all, ["1.21.1", 14, 20]],
  ["names of one protocol count together", { "1.21": 2, "1.20.5": 1 }, all, ["1.21.1", 2, 3]],
  ["of two versions with as many the newer is taken", { "1.21.1": 5, "26.1": 5 }, all, ["26.1", 5, 10]],
  ["a version without an image takes no part", { "1.21.5": 9, "1.20.6": 1 }, all, ["1.20.6", 1, 10]],
  ["only versions without an image leave the default", { "1.21.5": 9 }, all, ["1.21.4", 0, 9]],
  ["when nobody came it is the default", {}, all, ["1.21.4", 0, 0]],
  ["nobody is no player", { "1.20.6": 0 }, all, ["1.21.4", 0, 0]],
  ["without images it is the default", { "1.21.1": 3 }, [], ["1.21.4", 0, 3]],
  [
    "a label counts and not the tag",
    { "1.21.1": 3 },
    [image("stable", "1.21.1"), image("1.21.1", "1.21.4")],
    ["stable", 3, 3],
  ],
  [
    "a tag that is no version is nothing",
    { "1.21.1": 3 },
    [image("latest"), image("1.21.1-rc1")],
    ["1.21.4", 0, 3],
  ],
  [
    "of two images of a version the default is taken",
    { "1.21.4": 1 },
    [image("zzz", "1.21.4"), image("1.21.4")],
    ["1.21.4", 1, 1],
  ],
  [
    "of two other images of a version the newest name is taken",
    { "26.1": 1 },
    [image("26.1"), image("26.1.2"), image("26.1.1")],
    ["26.1.2", 1, 1],
  ],
];
describe("the image of a server that names none", () => {
  for (const [fact, counts, images, [tag, players, of]] of cases)
    test(fact, () => {
      const { imageRef, ...why } = suggestImage(counted(counts), images, standard);
      assert.equal(imageRef, `host/game:${tag}`);
      assert.deepEqual({ players: why.players, of: why.of }, { players, of });
    });

  test("an unknown protocol, such as a snapshot's, chooses nothing but is counted", () => {
    const counts = [{ protocol: 2 ** 30 + 200, players: 7 }, ...counted({ "1.21.1": 1 })];
    assert.deepEqual(suggestImage(counts, all, standard), {
      ...{ imageRef: "host/game:1.21.1", protocol: 767 },
      ...{ players: 1, of: 8 },
    });
  });

  test("a default image says its version by label or tag, or none", () => {
    const of = (images: VersionImage[], ref: string) => suggestImage([], images, ref);
    assert.deepEqual(of([], "host:5000/game:1.21@sha256:0"), {
      imageRef: "host:5000/game:1.21@sha256:0",
      protocol: 767,
      ...none,
    });
    assert.deepEqual(of([image("java21", "26.1")], "host/game:java21"), {
      imageRef: "host/game:java21",
      protocol: 775,
      ...none,
    });
    assert.deepEqual(of([], "game"), { imageRef: "game", protocol: undefined, ...none });
  });
});

test("a reference is taken apart with ports and digests", () => {
  const cases = [
    ["game", "game", ""],
    ["host:5000/game", "host:5000/game", ""],
    ["host:5000/a/game:1", "host:5000/a/game", "1"],
    ["game:1@sha256:ab", "game", "1"],
    ["game@sha256:ab", "game", ""],
  ];
  for (const [ref = "", repository, tag] of cases)
    assert.deepEqual([repositoryOf(ref), tagOf(ref)], [repository, tag]);
});

test("every name of a range is its protocol's, and a name beyond it nobody's", () => {
  const protocols = {
    "1.20.5": 766,
    "1.20.6": 766,
    "1.21": 767,
    "1.21.1": 767,
    "1.21.2": 768,
    "1.21.10": 773,
    "26.1": 775,
  };
  for (const [name, protocol] of Object.entries({ ...protocols, "26.1.1": 775, "26.1.2": 775 }))
    assert.equal(protocolOf(name), protocol, name);
  for (const name of ["1.20.4", "1.20", "26.1.3", "26", "", "1.21.4 ", "constructor"])
    assert.equal(protocolOf(name), undefined);
  for (const [protocol, name] of gameVersions) assert.equal(protocolOf(name), protocol);
  assert.equal(versionLabel(773), "1.21.9-1.21.10");
  assert.equal(versionLabel(1), undefined);
});
