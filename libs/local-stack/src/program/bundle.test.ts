import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { scratchDir } from "../testing/scratch.ts";
import { until } from "../testing/until.ts";
import { buildPrograms, escapeLetters } from "./bundle.ts";
import { findCurrentBuild, findLatestBuild } from "./find.ts";
import { findPrograms } from "./programs.ts";

const sources = { one: "one/main.ts", two: "two.ts" };
const day = 24 * 60 * 60;

/** A checkout with two programs that share a module; `one` prints what it sees and stays when it is told to. */
function writeCheckout(repo: string, word = "first"): void {
  for (const dir of ["one", "node_modules"]) mkdirSync(join(repo, dir), { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(repo, name), text);
  write("shared.ts", `export const word: string = "${word}";\n`);
  write("package-lock.json", "{}");
  write("old.cjs", "exports.folder = __dirname;\n");
  write("one/late.ts", "export const late = 1;\n");
  write(
    "one/main.ts",
    `import { word } from "../shared.ts";
    import { folder } from "../old.cjs";
    const { late } = await import("./late.ts");
    console.log(JSON.stringify({ word, folder, late, url: import.meta.url, dir: import.meta.dirname, main: import.meta.main }));
    if (process.argv[2] === "stay") setInterval(() => undefined, 60_000);
    `,
  );
  write("two.ts", 'import { word } from "./shared.ts"; console.log(word);\n');
}

/** Builds once the files are older than the step of the clock that their times come from. */
async function build(repo: string): Promise<string> {
  return until(async () => {
    await buildPrograms({ repo, sources });
    return findCurrentBuild(repo);
  });
}

function run(folder: string, name: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, `${name}.mjs`)], { encoding: "utf8" });
  assert.equal(stderr, "");
  return stdout.trim();
}

test("a bundled program sees itself where its source is", async () => {
  using scratch = scratchDir();
  writeCheckout(scratch.path);
  const folder = await build(scratch.path);
  const source = join(scratch.path, "one/main.ts");
  assert.deepEqual(JSON.parse(run(folder, "one")), {
    word: "first",
    folder: scratch.path,
    late: 1,
    url: pathToFileURL(source).href,
    dir: join(scratch.path, "one"),
    main: true,
  });
  assert.equal(run(folder, "two"), "first");
});

test("programs are bundled again when a source or the lock of the packages has changed", async () => {
  using scratch = scratchDir();
  const repo = scratch.path;
  writeCheckout(repo);
  let builds = 0;
  const find = async () => {
    const programs = await findPrograms(repo, async () => {
      builds += 1;
      await build(repo);
    });
    return run(join(programs.file("svc"), ".."), "two");
  };
  assert.equal(await find(), "first");
  assert.equal(await find(), "first");
  assert.equal(builds, 1);

  writeCheckout(repo, "other");
  // As a tool does that restores files with their times.
  utimesSync(join(repo, "shared.ts"), 1, 1);
  assert.equal(await find(), "other");
  assert.equal(builds, 2);

  writeFileSync(join(repo, "package-lock.json"), '{ "lockfileVersion": 3 }');
  await find();
  assert.equal(builds, 3);
});

test("a file that changes during the build leaves a result that is built again", async () => {
  using scratch = scratchDir();
  const repo = scratch.path;
  writeCheckout(repo);
  await build(repo);
  const building = buildPrograms({ repo, sources });
  writeCheckout(repo, "meanwhile");
  await building;
  assert.equal(findCurrentBuild(repo), undefined);
  assert.equal(run(await build(repo), "two"), "meanwhile");
});

test("builds older than a day go, except the latest and those that a process runs", async () => {
  using scratch = scratchDir();
  const repo = scratch.path;
  const age = (folder: string) =>
    utimesSync(folder, Date.now() / 1_000 - 2 * day, Date.now() / 1_000 - 2 * day);
  writeCheckout(repo, "unused");
  const unused = await build(repo);
  writeCheckout(repo, "used");
  const used = await build(repo);
  const child = spawn(process.execPath, [join(used, "one.mjs"), "stay"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    for (const folder of [unused, used]) age(folder);
    writeCheckout(repo, "latest");
    const latest = await build(repo);
    assert.deepEqual([unused, used, latest].map(existsSync), [false, true, true]);
    assert.equal(findLatestBuild(repo), latest);
    assert.match(readFileSync(join(latest, "manifest.json"), "utf8"), /shared\.ts/);
  } finally {
    child.kill("SIGKILL");
  }
});

test("letters beyond ASCII are escaped without a change of what they mean", () => {
  const code = String.raw`[ "é", 'a\é', "\\é", "😀", \`ü${1}\`, /^[à-ü]\ö$/.test("éö"), /^😀$/u.test("😀"), "\\\n" ]`;
  const escaped = escapeLetters(code.replaceAll("\\`", "`"));
  assert.doesNotMatch(escaped, /[\u0080-\uffff]/);
  assert.deepEqual(
    runInNewContext(`JSON.stringify(${escaped})`),
    runInNewContext(`JSON.stringify(${code.replaceAll("\\`", "`")})`),
  );
});
