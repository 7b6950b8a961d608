import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeSupportBundle } from "./bundle.ts";

type Made = { path: string; parts: string[]; missing: { file: string; missing: string }[] };

test("where nothing runs the bundle has what the machine knows and names the rest", async () => {
  const data = mkdtempSync(join(tmpdir(), "svc-no-stack-"));
  const out = join(data, "bundle.tar.gz");
  try {
    writeFileSync(join(data, "svc.toml"), '[server]\nroot_domain = "play.example.net"\n');
    const { json, text } = await writeSupportBundle({ data, out });
    const { missing } = json as Made;
    const names = missing.map(({ file }) => file);
    for (const name of ["stack.json", "doctor.json", "events.jsonl", "streams.json", "database.json"])
      assert.ok(names.includes(name), `${name} is not named`);
    assert.ok(missing.every((one) => one.missing.length > 10));
    assert.match(text, /Missing: stack\.json: no stack is running/);
    assert.equal(statSync(out).mode & 0o777, 0o600);
    const show = (name: string) =>
      execFileSync("tar", ["--extract", "--to-stdout", "--wildcards", "--file", out, `*/${name}`], {
        encoding: "utf8",
      });
    assert.match(show("settings.toml"), /root_domain = "play\.example\.net"/);
    assert.match(show("versions.json"), /"node": "v\d+/);
    assert.match(show("manifest.json"), /"missing": "no stack is running/);
  } finally {
    rmSync(data, { recursive: true });
  }
});

test("an existing file stays, and a folder that is missing leaves nothing behind", async () => {
  const data = mkdtempSync(join(tmpdir(), "svc-no-stack-"));
  try {
    writeFileSync(join(data, "mine"), "");
    await assert.rejects(writeSupportBundle({ data, out: join(data, "mine") }), { code: "EEXIST" });
    await assert.rejects(writeSupportBundle({ data, out: join(data, "nowhere/b.tar.gz") }), {
      code: "ENOENT",
    });
    assert.deepEqual(readdirSync(data), ["mine"]);
  } finally {
    rmSync(data, { recursive: true });
  }
});
