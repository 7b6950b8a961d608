import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { z } from "zod";
import { parseServiceArguments } from "./command-line.ts";
import { checkOverrides, loadSettings } from "./load.ts";
import { duration, section, size } from "./values.ts";

const schema = z.strictObject({
  lifecycle: section({
    arrival_window: duration("3m"),
    images: z.array(z.string()).default([]),
    max_running_servers: z.int().min(0).default(0),
  }),
  archive: section({ max_local_bytes: size("4Gi") }),
});

const folder = mkdtempSync(join(tmpdir(), "svc-config-"));
after(() => rmSync(folder, { recursive: true }));
function file(text: string): string {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.toml`);
  writeFileSync(path, text);
  return path;
}

test("without a file every setting has its default", () => {
  assert.deepEqual(loadSettings(schema, {}), {
    lifecycle: { arrival_window: 180_000, images: [], max_running_servers: 0 },
    archive: { max_local_bytes: 4 * 2 ** 30 },
  });
});

test("a file sets what it names, an override wins over the file", () => {
  const settings = loadSettings(schema, {
    file: file('[lifecycle]\narrival_window = "1m"\nmax_running_servers = 3\n'),
    overrides: ["lifecycle.arrival_window=5s", 'lifecycle.images=["a:1"]'],
  });
  assert.deepEqual(settings.lifecycle, { arrival_window: 5_000, images: ["a:1"], max_running_servers: 3 });
});

test("sections of other services are ignored", () => {
  assert.equal(
    loadSettings(schema, { file: file('[smtp]\nhost = "mail"\n') }).archive.max_local_bytes,
    2 ** 32,
  );
});

const refusals: [string, { file?: string; overrides?: string[] }, RegExp][] = [
  ["an unknown section", { overrides: ["lifecylce.arrival_window=5s"] }, /no section \[lifecylce\]/],
  ["an unknown key", { overrides: ["lifecycle.arrival=5s"] }, /lifecycle: .*arrival/],
  [
    "a duration without a unit",
    { overrides: ["lifecycle.arrival_window=five"] },
    /lifecycle\.arrival_window: must be a duration/,
  ],
  ["an override without a value", { overrides: ["lifecycle.images"] }, /section\.key=value/],
  ["a missing file", { file: "/nowhere/svc.toml" }, /cannot be read/],
];

for (const [what, source, message] of refusals) {
  test(`${what} is rejected with a sentence that names it`, () => {
    assert.throws(() => loadSettings(schema, source), { name: "ConfigError", message });
  });
}

test("an unknown argument of a service is rejected", () => {
  assert.throws(() => parseServiceArguments(["--sett", "a.b=c"]), { name: "ConfigError" });
  assert.deepEqual(parseServiceArguments(["--set", "a.b=c", "--set", "d.e=f"]).overrides, ["a.b=c", "d.e=f"]);
});

test("overrides that are only passed on are checked by form and section", () => {
  checkOverrides(["smtp.port=25", "lifecycle.no_key_of_mine=1"]);
  assert.throws(() => checkOverrides(["smtp.port"]), /--set smtp\.port: write it as section\.key=value/);
  assert.throws(() => checkOverrides(["nowhere.key=1"]), /there is no section \[nowhere\]/);
});
