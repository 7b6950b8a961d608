// The pages of the whole platform in a real browser on a real stack, one area after the other.

import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { platformAreas } from "./areas.ts";
import { describePanel, signIn } from "./fixture.ts";

describePanel("the platform in the panel", { isWhole, isSampled: false }, (fixture) => {
  test("an operator and a player sign in", () => signIn(fixture()));
  for (const addTests of platformAreas) addTests(fixture);
});
