import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/mesh/testing";
import { openFixture } from "./fixture.ts";

test("a fixture that cannot start closes what it had started", async () => {
  const cluster = () => Promise.reject(new Error("no cluster today"));
  await assert.rejects(openFixture({ cluster }), /no cluster today/);
  await until(() => !process.getActiveResourcesInfo().includes("ProcessWrap"));
});
