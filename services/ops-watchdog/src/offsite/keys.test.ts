import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { type S3Server, startS3Server } from "@svc/object-store/testing";
import { formatRing, generateKey, parseKey, parseRing } from "@svc/sealed";
import { settings as schema } from "../config.ts";
import { KeyCommand } from "./key-command.ts";
import { runKeyCommand } from "./keys.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-offsite-keys-"));
let s3: S3Server;
let number = 0;
let file = "";
before(async () => {
  s3 = await startS3Server();
});
beforeEach(() => {
  number += 1;
  file = join(folder, `key-${number}`);
});
after(async () => {
  await s3.stop();
  rmSync(folder, { recursive: true });
});

type Answer = {
  id: string;
  older: string[];
  path: string;
  sheet: string;
  done: boolean;
  fit: string;
  missing: string[];
};

function ask(command: object, env: Record<string, string> = {}): Promise<Answer> {
  const { accessKey, secretKey, region, endpoint = "" } = s3.options();
  const set = { bucket: "copies", region, endpoint, prefix: `t${number}`, key_file: file };
  const overrides = Object.entries(set).map(([key, value]) => `offsite.${key}=${value}`);
  const host = {
    settings: loadSettings(schema, { overrides }).offsite,
    env: { SVC_OFFSITE_ACCESS_KEY: accessKey, SVC_OFFSITE_SECRET_KEY: secretKey, ...env },
  };
  return runKeyCommand(host, KeyCommand.parse(command)) as Promise<Answer>;
}

const keygen = { do: "offsite-keygen", rotate: false, apply: false };
const rotate = { ...keygen, rotate: true, apply: true };
const readRing = (path = file) => parseRing(readFileSync(path, "utf8"));
const recordKey = (text: string) => s3.replace(`t${number}/svc-key-id`, Buffer.from(text));

describe("keygen", () => {
  test("writes a key 0600 and never overwrites one", async () => {
    const { id, done } = await ask(keygen);
    assert.equal(done, true);
    assert.equal(readRing().active.id, id);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const written = readFileSync(file);
    await assert.rejects(ask(keygen), /exists and is never overwritten/);
    assert.ok(readFileSync(file).equals(written));
  });

  test("into a folder that is not there names the folder and another way", async () => {
    const out = join(folder, "absent", "offsite.key");
    await assert.rejects(ask({ ...keygen, out }), /the folder of .* does not exist; make it, or give --out/);
  });

  test("refuses a file that nobody would read", async () => {
    const env = { SVC_OFFSITE_KEY: formatRing({ active: generateKey(), older: [] }) };
    await assert.rejects(ask(keygen, env), /SVC_OFFSITE_KEY is set and counts instead of .*--out/);
    const out = join(folder, "elsewhere");
    assert.equal((await ask({ ...keygen, out }, env)).path, out);
  });

  test("plans a rotation, then keeps the older keys behind the new one", async () => {
    const first = (await ask(keygen)).id;
    const before = readFileSync(file);
    assert.deepEqual(await ask({ ...rotate, apply: false }), { path: file, older: [first], done: false });
    assert.ok(readFileSync(file).equals(before));
    const second = (await ask(rotate)).id;
    const third = (await ask(rotate)).id;
    const ring = readRing();
    assert.deepEqual([ring.active.id, ...ring.older.map(({ id }) => id)], [third, second, first]);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  test("rotates keys of a variable into another file only", async () => {
    const active = generateKey();
    const env = { SVC_OFFSITE_KEY: formatRing({ active, older: [] }) };
    await assert.rejects(ask(rotate, env), /--out/);
    const out = join(folder, "rotated");
    const { id } = await ask({ ...rotate, out }, env);
    assert.deepEqual([readRing(out).active.id, readRing(out).older[0]?.id], [id, active.id]);
    await assert.rejects(ask({ ...rotate, out }, env), /never overwritten/);
  });
});

describe("check-key", () => {
  const other = generateKey();

  test("without a key says how to make one", async () => {
    await assert.rejects(ask({ do: "offsite-check-key" }), /svc offsite keygen/);
  });

  test("compares the file with the bucket", async () => {
    const { id } = await ask(keygen);
    const fit = async () => {
      const { fit, missing } = await ask({ do: "offsite-check-key" });
      return [fit, missing];
    };
    assert.deepEqual(await fit(), ["unused", []]);
    recordKey(`${id}\n`);
    assert.deepEqual(await fit(), ["same", []]);
    recordKey(`${id}\n${other.id}\n`);
    assert.deepEqual(await fit(), ["same", [other.id]]);
    recordKey(`${other.id}\n`);
    assert.deepEqual(await fit(), ["other", [other.id]]);
    recordKey(`${id}\n`);
    await ask(rotate);
    assert.deepEqual(await fit(), ["rotated", []]);
    recordKey("<html>a page</html>");
    await assert.rejects(fit(), /does not name a key/);
  });

  test("refuses a file that others may read", async () => {
    await ask(keygen);
    chmodSync(file, 0o644);
    await assert.rejects(ask({ do: "offsite-check-key" }), /chmod 600/);
  });

  test("with a wrong secret says which setting is wrong", async () => {
    await ask(keygen);
    await assert.rejects(
      ask({ do: "offsite-check-key" }, { SVC_OFFSITE_SECRET_KEY: "wrong" }),
      /offsite\.secret_key_ref/,
    );
    await assert.rejects(
      ask({ do: "offsite-check-key" }, { SVC_OFFSITE_SECRET_KEY: "" }),
      /SVC_OFFSITE_SECRET_KEY is not set/,
    );
  });
});

describe("a recovery sheet", () => {
  test("brings the key back on a fresh machine", async () => {
    const { id } = await ask(keygen);
    const { sheet } = await ask({ do: "offsite-recovery-sheet" });
    assert.match(sheet, /Bucket: copies, prefix t\d+ at http:/);
    const out = join(folder, `restored-${number}`);
    const restored = await ask({ do: "offsite-restore-key", sheet, out, add: false });
    assert.equal(restored.id, id);
    assert.deepEqual(readRing(out).active.secret.export(), readRing().active.secret.export());
    await assert.rejects(ask({ do: "offsite-restore-key", sheet, add: false }), /never overwritten/);
  });

  test("of an older key is printed by its id, and added to a file once", async () => {
    const old = (await ask(keygen)).id;
    const { sheet } = await ask({ do: "offsite-recovery-sheet" });
    const active = (await ask(rotate)).id;
    assert.equal((await ask({ do: "offsite-recovery-sheet", id: old })).sheet, sheet);
    await assert.rejects(ask({ do: "offsite-recovery-sheet", id: "0000" }), /no key 0000/);
    rmSync(file);
    await ask({ do: "offsite-restore-key", sheet, add: false });
    const newest = parseKey(Buffer.alloc(32, 7).toString("base64"));
    assert.notEqual(newest.id, active);
    await ask(rotate);
    for (let turn = 0; turn < 2; turn += 1)
      assert.deepEqual((await ask({ do: "offsite-restore-key", sheet, add: true })).older, [old]);
  });

  test("with a mistyped word is refused, and nothing is written", async () => {
    await ask(keygen);
    const { sheet } = await ask({ do: "offsite-recovery-sheet" });
    const out = join(folder, "mistyped");
    const wrong = sheet.replace(/ 3\. \S+/, " 3. minecraft");
    await assert.rejects(
      ask({ do: "offsite-restore-key", sheet: wrong, out, add: false }),
      /word 3, "minecraft"/,
    );
    assert.throws(() => statSync(out), { code: "ENOENT" });
  });
});
