// The panel by keyboard, in bad weather and with large uploads, and the sizes of its files.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { addCrashTests } from "./crashes.ts";
import { addFigureTests } from "./figures.ts";
import { describePanel, signIn } from "./fixture.ts";
import { addHostileFileTests, addHostileTests } from "./hostile.ts";
import { addIdleTests } from "./idle.ts";
import { addKeyTests } from "./keys.ts";
import { addLargeUploadTests } from "./large-uploads.ts";
import { addReasonTests } from "./reasons.ts";
import { addSharingTests } from "./sharing.ts";
import { addTabTests } from "./tabs.ts";
import { addTypedTextTests } from "./typed-text.ts";
import { addWeatherTests } from "./weather.ts";

describePanel("the panel by keyboard and in bad weather", { isWhole, isSampled: false }, (fixture) => {
  test("the owner makes a server", async () => {
    const { owner, addressOf } = fixture();
    await signIn(fixture());
    await owner.open(addressOf("admin_host", "/servers/new"));
    await owner.fill(en.create.name, "survival");
    await owner.page.keyboard.press("Enter");
    await owner.isAt("/servers/survival");
    // Its first start makes the world.
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
  });
  addFigureTests(fixture);
  addKeyTests(fixture);
  addTypedTextTests(fixture);
  addIdleTests(fixture);
  addReasonTests(fixture);
  addSharingTests(fixture);
  addCrashTests(fixture);
  addWeatherTests(fixture);
  addHostileTests(fixture);
  addTabTests(fixture);
  addHostileFileTests(fixture);
  // Last: the first page of the activity has nothing else after it.
  addLargeUploadTests(fixture);
});
