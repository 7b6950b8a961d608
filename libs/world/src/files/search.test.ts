import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { removeTree } from "../path/remove-tree.ts";
import { searchFiles } from "./search.ts";

type Plan = Parameters<typeof searchFiles>[1];

let base: string;
let world: Folder;
const at = (path: string) => join(base, "world", path);
const put = async (path: string, content: string | Buffer = path) => {
  await mkdir(dirname(at(path)), { recursive: true });
  await writeFile(at(path), content);
};

const limits: Plan["limits"] = {
  ...{ matches: 200, matchBytes: 1 << 20, entries: 1_000, bytes: 1 << 20, fileBytes: 100_000 },
  ...{ lines: 5, timeMs: 60_000 },
};
const plan = (text: string, more: Partial<Plan> = {}): Plan => ({
  ...{ path: "", text, matchCase: false, in: "both", limits },
  ...more,
});
const search = (text: string, more: Partial<Plan> = {}) => searchFiles(world, plan(text, more));
const paths = async (text: string, more: Partial<Plan> = {}) =>
  (await search(text, more)).matches.map(({ path }) => path);
const within = (some: Partial<Plan["limits"]>) => ({ limits: { ...limits, ...some } });

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-search-"));
  await put("server.properties", "motd=hi\nrcon.password=hush\nserver-port=25565\n");
  await put("config/paper-global.yml", "secret: velocity");
  await put("plugins/Essentials/config.yml", "Spawn: true\nhome: 3\n");
  await put("plugins/spawn.txt", "nothing");
  await put("logs/old.log.gz", Buffer.from([0x1f, 0x8b, 0, ...Buffer.from("spawn")]));
  await put(".svc-write-1", "spawn");
  await writeFile(join(base, "outside.txt"), "spawn");
  world = await Folder.openRoot(at(""));
});
afterEach(async () => {
  await world.close();
  await rm(base, { recursive: true });
});

test("a text is found in names and in lines, in the order of the tree", async () => {
  const { matches, looked_at, left_out, stopped } = await search("spawn");
  assert.deepEqual(
    matches.map(({ path, in_name, is_dir, lines }) => [path, in_name, is_dir, lines]),
    [
      ["plugins/Essentials/config.yml", false, false, [{ line: 1, text: "Spawn: true" }]],
      ["plugins/spawn.txt", true, false, []],
    ],
  );
  assert.deepEqual(left_out, { large: 0, binary: 1, protected: 1, unreadable: 0 });
  assert.deepEqual([looked_at, stopped], [9, null]);
});

test("names, content and case are searched as asked, folders by name, below one folder alone", async () => {
  assert.deepEqual(await paths("spawn", { in: "names" }), ["plugins/spawn.txt"]);
  assert.deepEqual(await paths("spawn", { in: "content" }), ["plugins/Essentials/config.yml"]);
  assert.deepEqual(await paths("Spawn", { matchCase: true }), ["plugins/Essentials/config.yml"]);
  assert.deepEqual(await paths("essentials"), ["plugins/Essentials"]);
  assert.deepEqual(await paths("o", { path: "plugins/Essentials", in: "names" }), [
    "plugins/Essentials/config.yml",
  ]);
  assert.equal((await search("spawn", { in: "names" })).read_bytes, 0);
});

describe("what nobody may read is not searched", () => {
  test("the password of RCON is masked, and the secret of the proxy left out, under every name", async () => {
    await link(at("server.properties"), at("innocent.txt"));
    await link(at("config/paper-global.yml"), at("plain.yml"));
    await put("config/.paper-global.yml.svc-partial", "secret: velocity");
    for (const secret of ["hush", "velocity", "secret:"]) assert.deepEqual(await paths(secret), [], secret);
    assert.deepEqual(await paths("25565"), ["innocent.txt", "server.properties"]);
    assert.equal((await search("rcon")).matches[0]?.lines[0]?.text, "rcon.password=********");
    assert.equal((await search("velocity")).left_out.protected, 3);
  });

  test("links are not followed, pipes not opened, and names of ours not shown", async () => {
    await symlink(join(base, "outside.txt"), at("link.txt"));
    await symlink(base, at("out"));
    execFileSync("mkfifo", [at("pipe")]);
    assert.deepEqual(await paths("spawn", { in: "content" }), ["plugins/Essentials/config.yml"]);
    assert.deepEqual(await paths("outside"), []);
    assert.deepEqual(await paths(".svc-"), []);
    assert.deepEqual(await paths("link"), ["link.txt"]);
  });

  const refused: [fact: string, path: string, code: string][] = [
    ["outside of the world", "../", "bad_path"],
    ["from the root of the machine", "/etc", "bad_path"],
    ["through a link", "out", "bad_path"],
    ["below a hidden name", ".svc-write-1", "bad_path"],
    ["in a file", "server.properties", "bad_path"],
    ["where nothing is", "nowhere", "not_found"],
  ];
  for (const [fact, path, code] of refused)
    test(`${fact}: ${code}`, async () => {
      await symlink(base, at("out"));
      await assert.rejects(search("spawn", { path }), (error) => isWorldFault(error, code as "bad_path"));
    });
});

describe("a search ends early and says why", () => {
  test("after as many matches, or as many bytes of them", async () => {
    for (const name of ["1", "2", "3"]) await put(`many/spawn-${name}`);
    const few = await search("spawn-", { in: "names", ...within({ matches: 2 }) });
    assert.deepEqual([few.matches.length, few.stopped], [2, "matches"]);
    const exact = await search("spawn-", { in: "names", ...within({ matches: 3 }) });
    assert.deepEqual([exact.matches.length, exact.stopped], [3, null]);
    const small = await search("spawn-", { in: "names", ...within({ matchBytes: 200 }) });
    assert.deepEqual([small.matches.length, small.stopped], [1, "matches"]);
  });

  test("after as many entries or bytes, and in time", async () => {
    const entries = await search("spawn", within({ entries: 3 }));
    assert.deepEqual([entries.looked_at, entries.stopped], [3, "entries"]);
    const bytes = await search("spawn", within({ bytes: 50 }));
    assert.equal(bytes.stopped, "bytes");
    assert.ok(bytes.read_bytes <= 50);
    let clock = 0;
    const late = await search("spawn", { ...within({ timeMs: 5 }), now: () => clock++ });
    assert.deepEqual([late.looked_at, late.stopped], [4, "time"]);
  });

  test("a file that is too large, and one that nobody may name, are left out and counted", async () => {
    await put("large.txt", `spawn${"x".repeat(100_000)}`);
    await put("plugins/raw", "x");
    execFileSync("sh", ["-c", `printf spawn > "${at("plugins")}/$(printf 'a\\377b')"`]);
    const { matches, left_out } = await search("spawn", { in: "content" });
    assert.deepEqual(matches.length, 1);
    assert.deepEqual([left_out.large, left_out.unreadable], [1, 1]);
  });

  test("a tree that is deeper than a path can be named is not entered", async () => {
    const name = "d".repeat(200);
    let inner = await world.duplicate();
    for (let depth = 0; depth < 25; depth += 1) {
      const outer = inner;
      await outer.makeFolder(name);
      inner = await outer.enter(name);
      await outer.close();
    }
    await inner.close();
    const { looked_at, left_out } = await search("spawn");
    assert.deepEqual([looked_at, left_out.unreadable], [9 + 21, 1]);
    await removeTree(world, name);
  });
});

test("many lines of one file are shown once each, and more is said", async () => {
  await put("many.txt", "spawn spawn\n".repeat(9));
  const { matches } = await search("spawn", { in: "content" });
  const { lines, more_lines } = matches.find(({ path }) => path === "many.txt") ?? {};
  assert.deepEqual([lines?.length, more_lines], [5, true]);
});
