import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { treeOf } from "../testing/tree.ts";
import { changedAt, type FileTimes, findChanged, isCodeChanged, isConfigChanged } from "./changed.ts";
import { listSets, putBack, setAside } from "./set-aside.ts";

describe("a file changed since a good start", () => {
  const since = { at: 100, rests: [{ from: 200, to: 300 }] };
  const times = (mtimeMs: number, ctimeMs = mtimeMs, folderBornMs = 50): FileTimes => ({
    ...{ mtimeMs, ctimeMs, folderBornMs },
  });
  const cases: [fact: string, times: FileTimes, asCode: boolean, asConfig: boolean][] = [
    ["before it", times(99), false, false],
    ["at it", times(100), false, false],
    ["while the server ran", times(150), true, false],
    ["while it was stopped", times(250), true, true],
    ["when it began to stop", times(200), true, false],
    ["while the next start failed", times(350), true, false],
    ["by a rename, or out of an archive, while it was stopped", times(10, 250), true, true],
    ["only with all of its folder, as in a restore", times(10, 250, 240), false, false],
    ["in a folder that is new itself", times(260, 260, 240), true, true],
    ["on a file system that does not know when folders were made", times(10, 250, 0), false, false],
  ];
  for (const [fact, given, asCode, asConfig] of cases)
    test(fact, () => {
      assert.equal(isCodeChanged(given, since), asCode);
      assert.equal(isConfigChanged(given, since), asConfig);
    });
  test("has the later of its times, or that of its content", () => {
    assert.equal(changedAt(times(10, 250), 100), 250);
    assert.equal(changedAt(times(10, 250, 240), 100), 10);
  });
});

describe("what changed in a world", () => {
  let base: string;
  let world: Folder;
  let goodStart: number;
  const at = (path: string) => join(base, "world", path);
  const put = async (path: string, text = path) => {
    await mkdir(dirname(at(path)), { recursive: true });
    await writeFile(at(path), text);
  };
  /** It was stopped at once after the good start, and is still. */
  const since = () => ({ at: goodStart, rests: [{ from: goodStart, to: Date.now() + 1_000 }] });
  const most = 500;
  const changed = async () => (await findChanged(world, since(), most)).files.map(({ path }) => path);
  const sets = async () =>
    (await listSets(world, most)).map(({ id, files }) => [id, ...files.map(({ path }) => path)]);
  const id = "20260101T000000Z";
  const aside = (set = id) => setAside(world, { id: set, since: since(), most });
  const faultOf = (work: Promise<unknown>) =>
    work.then(
      () => "none",
      (error: unknown) => (isWorldFault(error) ? error.fault : error),
    );

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), "svc-aside-"));
    for (const path of [
      ...["plugins/Old.jar", "plugins/Old/config.yml", "plugins/Renamed.jar.disabled", "mods/old.jar"],
      ...["config/paper-global.yml", "config/old.toml", "world/level.dat", "server.properties"],
    ])
      await put(path);
    world = await Folder.openRoot(join(base, "world"));
    await sleep(20);
    goodStart = Date.now();
    await sleep(20);
  });
  afterEach(async () => {
    await world.close();
    await rm(base, { recursive: true });
  });
  const change = async () => {
    for (const path of [
      ...[
        "plugins/New.jar",
        "plugins/Old/config.yml",
        "plugins/update/Old.jar",
        "mods/NEW.JAR",
        "config/new.toml",
      ],
      ...[
        "plugins/readme.txt",
        "plugins/.cache/x.jar",
        "plugins/Old/.hidden",
        "world/level.dat",
        "spigot.yml",
      ],
      "config/paper-global.yml",
    ])
      await put(path, "new");
    await rename(at("plugins/Renamed.jar.disabled"), at("plugins/Renamed.jar"));
    await symlink("/etc/passwd", at("plugins/link.jar"));
    await symlink("/etc", at("plugins/Linked"));
  };
  const all = [
    ...["config/new.toml", "mods/NEW.JAR", "plugins/New.jar", "plugins/Old/config.yml"],
    ...["plugins/Renamed.jar", "plugins/update/Old.jar"],
  ];

  test("is plugins, mods and their configuration, and nothing else", async () => {
    assert.deepEqual(await changed(), []);
    await change();
    assert.deepEqual(await changed(), all);
    assert.deepEqual((await findChanged(world, since(), 2)).files.length, 3);
    const started = { at: goodStart, rests: [] };
    const paths = (await findChanged(world, started, most)).files.map(({ path }) => path);
    assert.deepEqual(paths, [
      "mods/NEW.JAR",
      "plugins/New.jar",
      "plugins/Renamed.jar",
      "plugins/update/Old.jar",
    ]);
  });

  test("is set aside and put back as it was, with its times, and can be set aside again", async () => {
    await change();
    const before = await treeOf(world);
    assert.deepEqual(
      (await aside()).map(({ path }) => path),
      all,
    );
    assert.deepEqual(await changed(), []);
    assert.deepEqual(await sets(), [[id, ...all]]);
    assert.equal(await readFile(at(`.svc/set-aside/${id}/plugins/New.jar`), "utf8"), "new");
    assert.equal((await stat(at("plugins/Old"))).isDirectory(), true);
    assert.deepEqual(await aside("20260101T000001Z"), []);
    assert.deepEqual(
      (await putBack(world, id, most)).map(({ path }) => path),
      all,
    );
    const withoutFolders = (tree: typeof before) => tree.filter(({ kind }) => kind !== "folder");
    assert.deepEqual(withoutFolders(await treeOf(world)), withoutFolders(before));
    assert.deepEqual(await sets(), []);
    assert.equal(await world.find(".svc"), undefined);
    assert.deepEqual(
      await faultOf(putBack(world, id, most)).then((fault) => (fault as { code: string }).code),
      "not_found",
    );
    assert.deepEqual(
      (await aside("20260101T000002Z")).map(({ path }) => path),
      all,
    );
  });

  test("is not put back over what the server wrote in its place, and then nothing is moved", async () => {
    await change();
    await aside();
    await put("plugins/Old/config.yml", "made by the server");
    const before = await treeOf(world);
    const { code, conflicts } = (await faultOf(putBack(world, id, most))) as {
      code: string;
      conflicts: string[];
    };
    assert.deepEqual([code, conflicts], ["file_exists", ["plugins/Old/config.yml"]]);
    assert.deepEqual(await treeOf(world), before);
    await rm(at("plugins"), { recursive: true });
    await put("plugins", "a file where the folder was");
    assert.equal(((await faultOf(putBack(world, id, most))) as { code: string }).code, "file_exists");
    await rm(at("plugins"));
    await putBack(world, id, most);
    assert.equal(await readFile(at("plugins/New.jar"), "utf8"), "new");
  });

  test("brings nothing back to other places that somebody put into its set", async () => {
    await change();
    await aside();
    for (const path of ["ops.json", "world/level.dat", "plugins.json"])
      await put(`.svc/set-aside/${id}/${path}`, "forged");
    assert.doesNotMatch(JSON.stringify(await sets()), /ops|level|plugins\.json/);
    await putBack(world, id, most);
    assert.equal(await readFile(at("world/level.dat"), "utf8"), "new");
    assert.equal(await readFile(at(`.svc/set-aside/${id}/ops.json`), "utf8"), "forged");
    await assert.rejects(stat(at("ops.json")));
  });

  test("is refused as a whole when it is too much", async () => {
    await change();
    const before = await treeOf(world);
    const fault = await faultOf(setAside(world, { id, since: since(), most: 2 }));
    assert.equal((fault as { code: string }).code, "too_large");
    assert.deepEqual(await treeOf(world), before);
  });

  test("never leaves the world by a link in its way, and keeps what somebody put among it", async () => {
    await change();
    await mkdir(join(base, "elsewhere"));
    await symlink(join(base, "elsewhere"), at(".svc"));
    assert.equal(((await faultOf(aside())) as { code: string }).code, "bad_path");
    await rm(at(".svc"));
    await aside();
    await symlink("/etc/passwd", at(`.svc/set-aside/${id}/plugins/evil.jar`));
    await putBack(world, id, most);
    assert.deepEqual(await sets(), []);
    assert.ok((await stat(at(`.svc/set-aside/${id}/plugins`))).isDirectory());
    assert.deepEqual(await changed(), all);
  });
});
