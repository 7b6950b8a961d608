// Searching the files of a stopped world, over the external face and with the shipped agent.

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { type AccessLimits, type MemberRight, memberRights } from "@svc/proto";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";

type Found = {
  path: string;
  matches: { path: string; in_name: boolean; lines: { line: number; text: string }[] }[];
  left_out: Record<string, number>;
  stopped: string | null;
};

describe("a search in the files of a stopped world", () => {
  let fixture: FaceFixture;
  const inWorld = (path: string) => join(fixture.worldDir("survival"), path);
  before(async () => {
    fixture = await openFaceFixture();
    await fixture.start();
    await fixture.base.addServer("survival", "usr-1", {
      "level.dat": "\0needle",
      "server.properties": "rcon.password=hush\nview-distance=10\n",
      "config/paper-global.yml": "secret: hush",
      "plugins/a/config.yml": "name: Needle 世界\n",
      "plugins2/needle.yml": "x",
    });
  });
  after(() => fixture?.close());
  afterEach(() => {
    fixture.base.servers.owners.set("survival", "usr-1");
    fixture.base.servers.overrides.delete("survival");
  });

  const address = (query: Record<string, string>) =>
    `/api/v1/servers/survival/files/search?${new URLSearchParams(query)}`;
  const search = async (query: Record<string, string>) => {
    const { status, body } = await fixture.ask(address(query));
    assert.equal(status, 200, JSON.stringify(body));
    return body as Found;
  };
  const share = (given: readonly MemberRight[], limits?: AccessLimits) => {
    fixture.base.servers.owners.set("survival", "usr-owner");
    const member = { user_id: "usr-1", rights: [...given], ...(limits && { limits }) };
    fixture.base.servers.overrides.set("survival", { members: [member] });
  };

  test("the owner finds names and lines, and what was left out is said", async () => {
    const { path, matches, left_out, stopped } = await search({ text: "needle" });
    assert.deepEqual(
      matches.map((match) => [match.path, match.in_name, match.lines]),
      [
        ["plugins/a/config.yml", false, [{ line: 1, text: "name: Needle 世界" }]],
        ["plugins2/needle.yml", true, []],
      ],
    );
    assert.deepEqual([path, stopped], ["", null]);
    assert.deepEqual(left_out, { large: 0, binary: 1, protected: 1, unreadable: 0 });
    const exact = await search({ text: "needle", match_case: "true", in: "content" });
    assert.deepEqual(exact.matches, []);
  });

  test("secrets of the platform are found by nobody", async () => {
    assert.deepEqual((await search({ text: "hush" })).matches, []);
    const [line] = (await search({ text: "rcon.password" })).matches[0]?.lines ?? [];
    assert.equal(line?.text, "rcon.password=********");
  });

  test("links are not followed", async () => {
    mkdirSync(inWorld("../outside"), { recursive: true });
    writeFileSync(inWorld("../outside/needle.txt"), "needle");
    symlinkSync(inWorld("../outside"), inWorld("plugins/out"));
    const { matches } = await search({ text: "needle", path: "plugins" });
    assert.deepEqual(
      matches.map((match) => match.path),
      ["plugins/a/config.yml"],
    );
    assert.equal(await fixture.refusal(address({ text: "x", path: "plugins/out" })), "400 bad_path");
  });

  const refused: [fact: string, query: Record<string, string>, answer: string][] = [
    ["without a text", {}, "400 bad_request"],
    ["with an empty text", { text: "" }, "400 bad_request"],
    ["with a text of two lines", { text: "a\nb" }, "400 bad_request"],
    ["with a text that is too long", { text: "a".repeat(201) }, "400 bad_request"],
    ["in an unknown place", { text: "a", in: "everywhere" }, "400 bad_request"],
    ["with an unknown choice of case", { text: "a", match_case: "maybe" }, "400 bad_request"],
    ["with a pattern beside it", { text: "a", regex: "true" }, "400 bad_request"],
    ["outside of the world", { text: "a", path: "../" }, "400 bad_path"],
    ["in a hidden folder", { text: "a", path: ".svc-restore-1" }, "400 bad_path"],
    ["in a file", { text: "a", path: "level.dat" }, "400 bad_path"],
    ["in a folder that is not there", { text: "a", path: "nowhere" }, "404 not_found"],
  ];
  for (const [fact, query, answer] of refused)
    test(`${fact}: ${answer}`, async () => assert.equal(await fixture.refusal(address(query)), answer));

  test("a member finds only what is within its paths", async () => {
    share(["files.read"], { read_paths: ["plugins", "config"] });
    const within = await search({ text: "e", path: "plugins" });
    assert.ok(within.matches.every((match) => match.path.startsWith("plugins/")));
    for (const path of ["", ".", "plugins2", "plugins/../plugins2", "./"])
      assert.match(
        (await fixture.refusal(address({ text: "needle", path }))) ?? "",
        /^(403 path_not_shared|400 bad_path)$/,
        path,
      );
    assert.deepEqual((await search({ text: "hush", path: "config" })).matches, []);
  });

  test("a member without the right, others and nobody find nothing", async () => {
    share(memberRights.filter((right) => right !== "files.read"));
    assert.equal(await fixture.refusal(address({ text: "a" })), "403 forbidden");
    assert.equal(await fixture.refusal(address({ text: "a" }), { as: "usr-2" }), "403 forbidden");
  });

  test("a server that runs is refused, and one that is not there unknown", async () => {
    fixture.base.servers.overrides.set("survival", { phase: "Running", stopped: false });
    assert.equal(await fixture.refusal(address({ text: "a" })), "409 not_stopped");
    const other = "/api/v1/servers/nowhere/files/search?text=a";
    assert.equal(await fixture.refusal(other), "404 not_found");
  });
});
