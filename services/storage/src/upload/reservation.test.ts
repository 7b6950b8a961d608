// Space on the upload volume: checked and reserved in one step, first come first served.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { until } from "@svc/mesh/testing";
import { isFault } from "@svc/proto";
import { settings } from "../config.ts";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import { startPartialUpload } from "../testing/partial-upload.ts";
import { checkSpace, type UploadSpace } from "./reservation.ts";
import { ttlOf } from "./session.ts";

const base = "/api/v1/servers/survival/files";

describe("the rules for free space", () => {
  const room: UploadSpace = { size: 1_000, free: 1_000, keepFree: 0.1, share: 0.25, staged: 0, coming: [] };
  const coming = (user_id: string, bytes: number) => ({ id: "1", user_id, bytes, until: 0 });
  const cases: [fact: string, room: Partial<UploadSpace>, bytes: number, isRefused: boolean][] = [
    ["a share is used to its last byte", {}, 250, false],
    ["a byte over the share is rejected", {}, 251, true],
    ["staged bytes count against the share", { staged: 200 }, 51, true],
    ["reserved bytes count against the share", { coming: [coming("usr-1", 200)] }, 51, true],
    [
      "bytes reserved by others do not count against the share",
      { coming: [coming("usr-2", 200)] },
      51,
      false,
    ],
    [
      "bytes reserved by others reduce the free space",
      { free: 300, coming: [coming("usr-2", 150)] },
      51,
      true,
    ],
    ["a tenth of the volume stays free", { free: 150 }, 51, true],
    ["no more than a tenth stays free", { free: 150 }, 50, false],
  ];
  for (const [fact, change, bytes, isRefused] of cases) {
    test(fact, () => {
      const check = () => checkSpace({ ...room, ...change }, { user_id: "usr-1", bytes });
      if (!isRefused) return check();
      assert.throws(check, (error) => isFault(error) && error.fault === "upload_staging_full");
    });
  }
  test("a session that has received nothing lives for half an hour, any other for six hours", () => {
    const deps = { settings: loadSettings(settings, {}) };
    const part = { size: 1, sha256: "0".repeat(64), file: "0.a" };
    assert.equal(ttlOf(deps, { kind: "session", parts: [] }), 30 * 60_000);
    assert.equal(ttlOf(deps, { kind: "session", parts: [part] }), 6 * 3_600_000);
  });
});

test("a session that has received nothing expires, one that has received a part is kept", async () => {
  const fixture = await openFaceFixture();
  try {
    await fixture.start(["storage.upload_empty=2s"]);
    await fixture.base.addServer("survival", "usr-1");
    const begin = async () => {
      const { body } = await fixture.ask(`${base}/uploads?path=x.bin`, { method: "POST", json: { size: 2 } });
      return `${base}/uploads/${body["id"]}`;
    };
    const used = await begin();
    const bytes = Buffer.from("a");
    assert.equal((await fixture.ask(`${used}?offset=0`, { method: "PUT", bytes })).status, 200);
    const empty = await begin();
    await until(async () => (await fixture.ask(empty)).status === 404, 20_000);
    assert.equal((await fixture.ask(used)).status, 200);
  } finally {
    await fixture.close();
  }
});

describe("a full upload volume", {
  skip: process.getuid?.() !== 0 && "needs root for a tmpfs",
}, () => {
  let fixture: FaceFixture;
  let volume: string;
  before(async () => {
    volume = mkdtempSync(join(tmpdir(), "svc-full-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", volume]);
    fixture = await openFaceFixture();
    const own = [`storage.staging_path=${volume}/staging`, "storage.staging_keep_free=0.1"];
    for (let n = 0; n < 2; n++) await fixture.start([...own, "storage.upload_account_share=0.7"]);
    await fixture.base.addServer("survival", "usr-1");
    await fixture.base.addServer("skyblock", "usr-2");
  });
  after(async () => {
    await fixture?.close();
    execFileSync("umount", [volume]);
    rmSync(volume, { recursive: true });
  });
  type Person = { as: string; server: string };
  const one: Person = { as: "usr-1", server: "survival" };
  const two: Person = { as: "usr-2", server: "skyblock" };
  const placeOf = ({ server }: Person) => `/api/v1/servers/${server}/files/uploads`;
  const begin = (size: number, who = one) =>
    fixture.ask(`${placeOf(who)}?path=x.bin`, { method: "POST", json: { size }, as: who.as });
  const session = async (size: number, who = one) => {
    const { status, body } = await begin(size, who);
    assert.equal(status, 201, JSON.stringify(body));
    return { who, place: `${placeOf(who)}/${body["id"]}` };
  };
  type Begun = Awaited<ReturnType<typeof session>>;
  const put = async ({ who, place }: Begun, bytes: Uint8Array) => {
    const about = { method: "PUT", bytes, as: who.as };
    const { status, body } = await fixture.ask(`${place}?offset=0`, about);
    return `${status} ${(body["error"] as { code?: string } | undefined)?.code ?? ""}`.trim();
  };
  const cancel = ({ who, place }: Begun) => fixture.ask(place, { method: "DELETE", as: who.as });
  const atRest = () => until(() => readdirSync(join(volume, "staging")).length === 0, 20_000);

  test("a file larger than the volume or than the share of an account is rejected at once", async () => {
    for (const size of [9_000_000, 6_000_000]) {
      const { status, body } = await begin(size);
      assert.deepEqual([status, (body["error"] as { code: string }).code], [507, "upload_staging_full"]);
    }
  });

  test("a session reserves nothing, a part in transit does: against its account and the volume", async () => {
    const bytes = randomBytes(5_000_000);
    const sessions = [await session(5_000_000), await session(5_000_000), await session(5_000_000, two)];
    const [first, second, other] = sessions;
    assert.ok(first && second && other);
    // It reserves space for all of it when its first byte arrives.
    const sending = startPartialUpload(`${fixture.externalUrl}${first.place}?offset=0`, bytes, 100);
    await until(
      () => existsSync(join(volume, "staging")) && readdirSync(join(volume, "staging")).length === 1,
    );
    assert.equal(await put(second, bytes), "507 upload_staging_full");
    assert.equal(await put(other, bytes), "507 upload_staging_full");
    sending.destroy();
    await until(async () => (await put(other, bytes)) === "200");
    for (const one of sessions) await until(async () => [204, 404].includes((await cancel(one)).status));
    await atRest();
  });

  test("concurrent parts reserve no more than the free space", async () => {
    const bytes = randomBytes(1_900_000);
    const people = [one, two, one, two, one, two, one, two];
    const sessions = await Promise.all(people.map((who) => session(bytes.length, who)));
    const received = await Promise.all(sessions.map((begun) => put(begun, bytes)));
    const taken = received.filter((status) => status === "200").length;
    // 8 MiB, of which a tenth stays free.
    assert.ok(taken >= 1 && taken <= 3, received.join());
    assert.ok(
      received.every((status) => status === "200" || status === "507 upload_staging_full"),
      received.join(),
    );
    for (const begun of sessions) await cancel(begun);
    await atRest();
  });

  test("a part during which the volume fills up leaves nothing, and can be sent again", async () => {
    const { body } = await begin(5_000_000);
    const bytes = randomBytes(5_000_000);
    const filler = join(volume, "filler");
    execFileSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=1M", "count=5"], { stdio: "ignore" });
    const place = `${base}/uploads/${body["id"]}?offset=0`;
    assert.equal(await fixture.refusal(place, { method: "PUT", bytes }), "507 upload_staging_full");
    const folder = join(volume, "staging", String(body["id"]));
    assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], []);
    rmSync(filler);
    const { status } = await fixture.ask(place, { method: "PUT", bytes });
    assert.equal(status, 200);
    assert.equal(createHash("sha256").update(bytes).digest("hex").length, 64);
  });
});
