import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isFault } from "@svc/proto";
import { createStaging, type Staging } from "./staging.ts";

const id = "a".repeat(32);
const { signal } = new AbortController();

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("staged files", () => {
  let path: string;
  let staging: Staging;
  before(() => {
    path = mkdtempSync(join(tmpdir(), "svc-staging-"));
    staging = createStaging({ path, keepFree: 0 });
  });
  after(() => rmSync(path, { recursive: true }));

  const files = () => readdirSync(path, { recursive: true }).filter((name) => String(name).includes("."));
  const receive = (bytes: Uint8Array, more: { length?: number; sha256?: string; size?: number } = {}) =>
    // It removes what it has written.
    staging.receive(pieces(Buffer.from(bytes), more.size ?? 65_536), {
      id,
      offset: 0,
      length: more.length ?? bytes.length,
      sha256: more.sha256 ?? createHash("sha256").update(bytes).digest("hex"),
      signal,
    });
  const refused = async (work: Promise<unknown>) =>
    work.then(
      () => "none",
      (error: unknown) => (isFault(error) ? error.fault : String(error)),
    );

  test("received bytes are read back, whatever the size of the chunks", async () => {
    for (const size of [1_000, 65_536, 3_000_000]) {
      const bytes = randomBytes(2_621_441);
      const part = await receive(bytes, { size });
      const read: Uint8Array[] = [];
      for await (const chunk of staging.read(id, [part, part], signal)) read.push(Buffer.from(chunk));
      assert.ok(Buffer.concat(read).equals(Buffer.concat([bytes, bytes])));
      await staging.remove(id);
    }
  });
  test("a body that is short, long, wrong or cut leaves no file", async () => {
    const bytes = randomBytes(100_000);
    const broken = async function* () {
      yield bytes;
      throw new Error("cut");
    };
    const about = { id, offset: 0, length: 200_000, sha256: "0".repeat(64), signal };
    assert.deepEqual(
      [
        await refused(receive(bytes, { length: 100_001 })),
        await refused(receive(bytes, { length: 99_999 })),
        await refused(receive(bytes, { sha256: "0".repeat(64) })),
        await refused(staging.receive(broken(), about)),
      ],
      ["upload_incomplete", "bad_request", "digest_mismatch", "Error: cut"],
    );
    assert.deepEqual(files(), []);
  });
  test("the reader of a part that has lost bytes gets an error", async () => {
    const part = await receive(randomBytes(10_000));
    truncateSync(join(path, id, part.file), 5_000);
    const read = async () => {
      for await (const _ of staging.read(id, [part], signal));
    };
    await assert.rejects(read, /ends after 5000/);
    await staging.remove(id);
  });
  test("no name escapes the staging folder", async () => {
    for (const name of ["..", "../x", "a".repeat(31), `${id}/x`]) {
      assert.throws(() => staging.remove(name), /is not an upload ID/);
    }
  });
  test("old incomplete parts of an active upload are pruned, its complete parts are kept", async () => {
    const part = await receive(randomBytes(10));
    const stray = join(path, id, "a.dead");
    writeFileSync(stray, "half");
    assert.equal(await staging.prune(id, [part], Date.now() - 60_000), 0);
    for (const file of [stray, join(path, id, part.file)]) utimesSync(file, 1, 1);
    assert.equal(await staging.prune(id, [part], Date.now() - 60_000), 1);
    assert.deepEqual(readdirSync(join(path, id)), [part.file]);
    utimesSync(join(path, id), 1, 1);
    assert.deepEqual(await staging.idleSince(Date.now() - 60_000), [id]);
    await staging.remove(id);
  });
});
