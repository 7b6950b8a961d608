import assert from "node:assert/strict";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Fixture } from "./fixture.ts";

/** The owner makes the server `survival`, whose first start makes its world; it is asleep afterwards. */
export async function makeServer({ owner, addressOf }: Fixture): Promise<void> {
  await owner.open(addressOf("admin_host", "/servers/new"));
  await owner.fill(en.create.name, "survival");
  await owner.page.keyboard.press("Enter");
  await owner.isAt("/servers/survival");
  for (const [act, phase] of [
    ["wake", "Running"],
    ["stop", "Stopped"],
  ] as const) {
    const asked = await owner.request("POST", `/servers/survival/${act}`);
    assert.ok(asked.status < 300, JSON.stringify(asked.body));
    await until(
      async () => (await owner.request("GET", "/servers/survival/status")).body["phase"] === phase,
      60_000,
      phase,
    );
  }
}
