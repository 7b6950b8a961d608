import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { testProgram } from "@svc/config/test-program";
import { type S3Server, startS3Server } from "@svc/object-store/testing";

const main = testProgram(resolve(import.meta.dirname, "../main.ts"));
const folder = mkdtempSync(join(tmpdir(), "svc-cli-keys-"));
let s3: S3Server;
before(async () => {
  s3 = await startS3Server();
});
after(async () => {
  await s3.stop();
  rmSync(folder, { recursive: true });
});

async function svc(args: readonly string[], input = "") {
  const { accessKey, secretKey, region, endpoint = "" } = s3.options();
  const set = { bucket: "copies", region, endpoint, key_file: join(folder, "offsite.key") };
  const env = {
    ...process.env,
    SVC_SET: Object.entries(set)
      .map(([key, value]) => `offsite.${key}=${value}`)
      .join("\n"),
    SVC_OFFSITE_ACCESS_KEY: accessKey,
    SVC_OFFSITE_SECRET_KEY: secretKey,
  };
  const child = spawn(process.execPath, [main, "offsite", ...args, "--data", folder], { env });
  child.stdin.end(input);
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { out, error, code };
}

test("keys are made, compared with the bucket, printed and brought back, without a database", async () => {
  const made = await svc(["keygen", "--sheet", "--json"]);
  assert.equal(made.code, 0, made.error);
  const { id, sheet } = JSON.parse(made.out) as { id: string; sheet: string };
  const again = await svc(["keygen"]);
  assert.deepEqual([again.code, again.out], [1, ""]);
  assert.match(again.error, /never overwritten/);
  s3.replace("svc-key-id", Buffer.from(`${id}\n`));
  assert.equal((await svc(["check-key"])).code, 0);
  s3.replace("svc-key-id", Buffer.from("0123456789abcdef\n"));
  const other = await svc(["check-key"]);
  assert.equal(other.code, 3);
  assert.match(other.out, /sealed with the key 0123456789abcdef, and the key here is/);
  const planned = await svc(["keygen", "--rotate"]);
  assert.match(planned.out, new RegExp(`${id} stays for reading\\nNothing was done; add --yes`));
  const restored = await svc(["restore-key", "--out", join(folder, "restored"), "--json"], sheet);
  assert.equal((JSON.parse(restored.out) as { id: string }).id, id);
});
