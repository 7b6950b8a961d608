// kill -9 before every step of a server that an account makes for itself, after its object is made, and before its answer: there is no
// server, and the same request makes it, or it is the account's, with all that goes with it. Never is it there for nobody.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { sampleOf } from "@svc/config/testing";
import { staff, until } from "@svc/mesh/testing";
import { serverTemplates } from "@svc/proto";
import { servers } from "../cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";
import { runKilled } from "../testing/killed-steps.ts";
import { noImage, operationSettings } from "../testing/server-operations.ts";

const program = testProgram(fileURLToPath(new URL("../testing/killed-creation.ts", import.meta.url)));
const owner = "usr-ada";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start(operationSettings);
  const settings = { image: noImage, memory: "1Gi" };
  const texts = { name: "event", title: "", description: "", offered: true, revision: 0 };
  await fixture.external.call(serverTemplates.save, { ...texts, settings }, staff);
});
after(() => fixture?.close());

const makeIn = (name: string, at?: readonly [string, string]) =>
  runKilled<{ name?: string }>(
    program,
    [fixture.database.url, fixture.serviceKubeconfig, "event", name, owner],
    at,
  );

const rowOf = async (name: string) =>
  (
    await fixture.database.admin(
      `select owner_id, created_by, offered, cached_memory_mb as memory from lifecycle.servers
       where name = $1 and deleted_at is null`,
      [name],
    )
  )[0];

/** Waits until the leader has given an object its rows. */
async function leftOf(name: string): Promise<{ isThere: boolean }> {
  const object = await fixture.kube.find(servers, { name, namespace });
  if (object) await until(async () => (await rowOf(name)) !== undefined, 30_000);
  const whole = { owner_id: owner, created_by: owner, offered: false, memory: 1_024 };
  assert.deepEqual(await rowOf(name), object ? whole : undefined, name);
  return { isThere: object !== undefined };
}

test("killed at any step, a server of one's own is not there, or it is one's own", async () => {
  const { told } = await makeIn("unharmed");
  const steps = told?.steps ?? 0;
  assert.equal(told?.answer.name, "unharmed");
  assert.ok(steps >= 8, `${steps} steps`);
  assert.deepEqual(await leftOf("unharmed"), { isThere: true });
  const points = Array.from({ length: steps }, (_, n) => [String(n + 1), "before"]);
  // The object is the last step of the transaction.
  const ends = [
    [String(steps), "after"],
    ["0", "answered"],
  ];
  for (const [n = "", when = ""] of [...sampleOf(points, 4), ...ends]) {
    const name = `killed-${when}-${n}`;
    assert.deepEqual(await makeIn(name, [n, when]), { signal: "SIGKILL", told: undefined });
    const { isThere } = await leftOf(name);
    assert.equal(isThere, when !== "before", name);
    const again = await makeIn(name);
    assert.equal(again.told?.answer.fault ?? "none", isThere ? "name_taken" : "none", name);
    assert.deepEqual(await leftOf(name), { isThere: true });
  }
});
