// Events of builds, and what waits for what (docs/reference/webhooks.md#events).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { builds, type webhooks } from "@svc/proto";
import { laneOf, readMessage } from "./event.ts";

describe("events", () => {
  test("the end of a build is told with what is known of it", () => {
    const body = { id: "b", image_ref: "r/x:1", requested_by: "u", at: "2026-01-01T00:00:00.000Z" };
    const read = (more: object) =>
      readMessage(`svc.evt.${builds.buildEnded.subject}.b`, { ...body, ...more }).tell;
    const failed = read({ outcome: "failed", display_name: "Pack", failed_step: "build", cause: "no space" });
    assert.deepEqual([failed?.type, failed?.server], ["build.failed", undefined]);
    assert.deepEqual(JSON.parse(JSON.stringify(failed?.data)), {
      ...{ build: "b", image: "r/x:1", name: "Pack", requested_by: "u" },
      ...{ failed_step: "build", cause: "no space" },
    });
    assert.equal(read({ outcome: "cancelled" })?.type, "build.cancelled");
    assert.equal(read({ outcome: "succeeded" })?.data["name"], "r/x:1");
  });
  test("wait for those before them about the same server, for alerts, or for builds", () => {
    const lane = (type: webhooks.WebhookEventType, server?: string) =>
      laneOf({ type, ...(server !== undefined && { server }) });
    assert.deepEqual(
      [lane("server.ready", "alerts"), lane("alert.firing"), lane("alert.resolved"), lane("build.failed")],
      ["alerts", "alerts", "alerts", "/builds"],
    );
  });
});
