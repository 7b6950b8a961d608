import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { until } from "@svc/mesh/testing";
import { type Fixture, startFixture } from "../testing/fixture.ts";
import type { KillPoint } from "../testing/killed-process.ts";

const program = testProgram(fileURLToPath(new URL("../testing/killed-change.ts", import.meta.url)));

describe("a process that is killed while it disables a user", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());

  const disableIn = async (userId: string, killPoint: KillPoint) => {
    const child = spawn(process.execPath, [program, fixture.database.url, userId, killPoint], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [, signal] = await once(child, "exit");
    assert.equal(signal, "SIGKILL");
  };
  const isDisabled = async (userId: string) => {
    const [row] = await fixture.database.admin("select disabled from identity.users where id = $1", [userId]);
    return row?.["disabled"];
  };
  const entriesAbout = (userId: string) =>
    fixture.database.admin(
      "select * from identity.audit_logs where action = 'user.disable' and payload ->> 'user_id' = $1",
      [userId],
    );

  test("after the commit leaves the change and its audit entry", async () => {
    const { userId } = await fixture.person();
    await disableIn(userId, "after the commit");
    assert.equal(await isDisabled(userId), true);
    await until(async () => (await entriesAbout(userId)).length === 1);
  });

  test("before the commit leaves neither", async () => {
    const [killed, marker] = [await fixture.person(), await fixture.person()];
    await disableIn(killed.userId, "before the commit");
    assert.equal(await isDisabled(killed.userId), false);
    await disableIn(marker.userId, "after the commit");
    await until(async () => (await entriesAbout(marker.userId)).length === 1);
    assert.deepEqual(await entriesAbout(killed.userId), []);
  });
});
