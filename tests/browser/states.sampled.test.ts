// The panel by keyboard, in bad weather and with large uploads, and the sizes of its files.

import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { addCrashTests } from "./crashes.ts";
import { addFigureTests } from "./figures.ts";
import { describePanel, signIn } from "./fixture.ts";
import { addHostileFileTests, addHostileTests } from "./hostile.ts";
import { addIdleTests } from "./idle.ts";
import { addKeyTests } from "./keys.ts";
import { addLargeUploadTests } from "./large-uploads.ts";
import { makeServer } from "./make-server.ts";
import { addReasonTests } from "./reasons.ts";
import { addSharingTests } from "./sharing.ts";
import { addTabTests } from "./tabs.ts";
import { addTypedTextTests } from "./typed-text.ts";
import { addWeatherTests } from "./weather.ts";

describePanel("the panel by keyboard and in bad weather", { isWhole, isSampled: false }, (fixture) => {
  test("the owner makes a server", async () => {
    await signIn(fixture());
    await makeServer(fixture());
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
