import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { Folder } from "../path/folder.ts";
import { makeZip } from "../testing/zip.ts";
import { digestOf } from "../testing.ts";
import { installPlugins } from "./install.ts";
import { listPlugins } from "./list.ts";

const plugin = makeZip([{ name: "plugin.yml", content: "name: A" }]);
// Jars have names twice, which no world has.
const mod = makeZip([
  { name: "META-INF/LICENSE", content: "a" },
  { name: "META-INF/LICENSE", content: "b" },
  { name: "fabric.mod.json", content: "{}", deflate: true },
]);
const signal = new AbortController().signal;

let root: string;
let world: Folder;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-plugins-"));
  world = await Folder.openRoot(root);
});
afterEach(async () => {
  await world.close();
  await rm(root, { recursive: true });
});

const recordOf = (path: string, content: Buffer) => ({
  ...{ path, sha256: digestOf(content), source: "modrinth" as const, project: "p", title: "A" },
  ...{ version: "1", version_name: "1.0", installed_at: "2026-01-01T00:00:00.000Z" },
});
async function* streamOf(...contents: Buffer[]) {
  const all = Buffer.concat(contents);
  for (let at = 0; at < all.length; at += 100) yield all.subarray(at, at + 100);
}
type Put = { path: string; content: Buffer; expect?: string };
const install = (puts: Put[], drop: { path: string; expect: string | null }[] = [], sent?: Buffer[]) =>
  installPlugins(world, {
    put: puts.map(({ path, content, expect }) => ({
      record: recordOf(path, content),
      expect: expect ?? null,
    })),
    drop,
    sizes: puts.map(({ content }) => content.length),
    content: streamOf(...(sent ?? puts.map(({ content }) => content))),
    ...{ loader: "paper" as const, game_version: "1.21.4", signal },
  });
const list = () => listPlugins(world, { most: 300, signal });
const code = (wanted: string) => (error: { fault?: { code: string } }) => error.fault?.code === wanted;

describe("an installation", () => {
  test("makes the folder, places the files and records them", async () => {
    await install([
      { path: "plugins/a.jar", content: plugin },
      { path: "mods/b.jar", content: mod },
    ]);
    assert.ok((await readFile(join(root, "mods", "b.jar"))).equals(mod));
    const { files, records, truncated } = await list();
    assert.deepEqual(
      files.map(({ path, sha256 }) => [path, sha256]),
      [
        ["plugins/a.jar", digestOf(plugin)],
        ["mods/b.jar", digestOf(mod)],
      ],
    );
    assert.deepEqual([records.loader, records.game_version, truncated], ["paper", "1.21.4", false]);
    assert.deepEqual(
      records.plugins.map(({ path }) => path),
      ["mods/b.jar", "plugins/a.jar"],
    );
  });

  test("replaces what is as expected, and removes another file with its record", async () => {
    await install([{ path: "plugins/a.jar", content: plugin }]);
    const newer = makeZip([{ name: "paper-plugin.yml", content: "name: B" }]);
    await install(
      [{ path: "plugins/b.jar", content: newer }],
      [{ path: "plugins/a.jar", expect: digestOf(plugin) }],
    );
    assert.deepEqual(await readdir(join(root, "plugins")), ["b.jar"]);
    assert.deepEqual(
      (await list()).records.plugins.map(({ path }) => path),
      ["plugins/b.jar"],
    );
  });

  const old = Buffer.from("by hand");
  const refusals: Record<string, [code: string, run: () => Promise<void>]> = {
    "a file in the way": ["file_exists", () => install([{ path: "plugins/old.jar", content: plugin }])],
    "a file that was changed": [
      "file_changed",
      () => install([{ path: "plugins/old.jar", content: plugin, expect: digestOf(plugin) }]),
    ],
    "a file to remove that was changed": [
      "file_changed",
      () => install([], [{ path: "plugins/old.jar", expect: digestOf(plugin) }]),
    ],
    "a file that is back": ["file_changed", () => install([], [{ path: "plugins/old.jar", expect: null }])],
    "another folder": ["bad_path", () => install([{ path: "config/a.jar", content: plugin }])],
    "a path that leaves the world": [
      "bad_path",
      () => install([{ path: "plugins/../a.jar", content: plugin }]),
    ],
    "a mod as a plugin": ["archive_invalid", () => install([{ path: "plugins/m.jar", content: mod }])],
    "a text": ["archive_invalid", () => install([{ path: "plugins/m.jar", content: old }])],
    "an empty descriptor": [
      "archive_invalid",
      () => install([{ path: "plugins/m.jar", content: makeZip([{ name: "plugin.yml", content: "" }]) }]),
    ],
    "a damaged descriptor": [
      "archive_invalid",
      () =>
        install([
          {
            path: "plugins/m.jar",
            content: makeZip([{ name: "plugin.yml", content: "name: A", claims: { crc32: 1 } }]),
          },
        ]),
    ],
    "other bytes than were staged": [
      "digest_mismatch",
      () => install([{ path: "plugins/n.jar", content: plugin }], [], [Buffer.alloc(plugin.length)]),
    ],
    "too few bytes": ["digest_mismatch", () => install([{ path: "plugins/n.jar", content: plugin }], [], [])],
    "too many bytes": [
      "digest_mismatch",
      () => install([{ path: "plugins/n.jar", content: plugin }], [], [plugin, old]),
    ],
  };
  for (const [what, [wanted, run]] of Object.entries(refusals))
    test(`is refused for ${what}, and the world is unchanged`, async () => {
      await mkdir(join(root, "plugins"));
      await writeFile(join(root, "plugins", "old.jar"), old);
      await assert.rejects(run(), code(wanted));
      assert.deepEqual(await readdir(root), ["plugins"]);
      assert.deepEqual(await readdir(join(root, "plugins")), ["old.jar"]);
      assert.ok((await readFile(join(root, "plugins", "old.jar"))).equals(old));
    });

  test("into a linked folder is refused", async () => {
    await mkdir(join(root, "real"));
    await symlink("real", join(root, "plugins"));
    await assert.rejects(install([{ path: "plugins/a.jar", content: plugin }]));
    assert.deepEqual(await readdir(join(root, "real")), []);
  });
});

describe("a list", () => {
  test("shows jars only, follows no link, and takes a record that does not fit for none", async () => {
    await mkdir(join(root, "plugins", "a.jar.d"), { recursive: true });
    await writeFile(join(root, "plugins", "a.jar"), "a");
    await writeFile(join(root, "plugins", "b.txt"), "b");
    await symlink("/etc/passwd", join(root, "plugins", "c.jar"));
    for (const text of ["", "{", "[]", '{"loader":"x"}', "x".repeat(2 << 20)]) {
      await mkdir(join(root, ".svc"), { recursive: true });
      await writeFile(join(root, ".svc", "plugins.json"), text);
      const { files, records } = await list();
      assert.deepEqual([files.map(({ path }) => path), records.plugins], [["plugins/a.jar"], []]);
    }
  });

  test("says what the files say that the server runs", async () => {
    assert.deepEqual([(await list()).loader, (await list()).game_version], [null, null]);
    await mkdir(join(root, "config"));
    await writeFile(join(root, "config", "paper-global.yml"), "");
    await writeFile(join(root, "version_history.json"), '{"currentVersion":"1.21.4-15-abc (MC: 1.21.4)"}');
    assert.deepEqual([(await list()).loader, (await list()).game_version], ["paper", "1.21.4"]);
  });

  test("ends at its limit and says so", async () => {
    await mkdir(join(root, "mods"));
    for (const name of ["a.jar", "b.jar", "c.jar"]) await writeFile(join(root, "mods", name), name);
    const { files, truncated } = await listPlugins(world, { most: 2, signal });
    assert.deepEqual([files.length, truncated], [2, true]);
  });
});
