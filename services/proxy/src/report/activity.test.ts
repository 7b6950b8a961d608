import assert from "node:assert/strict";
import { test } from "node:test";
import { createRegistry } from "@svc/telemetry";
import { createActivity } from "./activity.ts";

test("the activity line sums up the time since the last one, and begins anew", () => {
  const activity = createActivity(createRegistry("proxy", "test"), { players: () => 3, waiting: () => 2 });
  const operation = "lifecycle.server.list";
  for (const [status, elapsedMs, isRetried] of [
    [200, 10, false],
    [0, 100, true],
    [404, 20, false],
    [503, 30, true],
  ] as const)
    activity.call({ operation, status, elapsedMs, isRetried });
  for (const what of [
    "busy",
    "joinEventsFailed",
    "joinEventsDropped",
    "transfersFailed",
    "refreshesFailed",
    "visitsDropped",
  ] as const)
    activity.count(what);
  const counts = {
    busy: 1,
    joinEventsFailed: 1,
    joinEventsDropped: 1,
    transfersFailed: 1,
    refreshesFailed: 1,
    visitsDropped: 1,
  };
  assert.deepEqual(activity.flush(2), {
    ...{ calls: 4, noAnswer: 1, refused4xx: 1, failed5xx: 1, retried: 2, avgMs: 40, maxMs: 100 },
    ...counts,
    waiting: 2,
  });
  assert.deepEqual(Object.values(activity.flush(0)), new Array(14).fill(0));
});

test("every metric has a bounded set of labels", async () => {
  const registry = createRegistry("proxy", "test");
  const activity = createActivity(registry, { players: () => 3, waiting: () => 2 });
  activity.call({ operation: "lifecycle.server.list", status: 204, elapsedMs: 1, isRetried: false });
  activity.refused("frame");
  activity.count("busy");
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("svc_proxy_"));
  const values = lines.map((line) => line.replace(/,?(service|version)="[^"]*"/g, ""));
  for (const wanted of [
    /^svc_proxy_players(\{\})? 3$/,
    /^svc_proxy_waiting(\{\})? 2$/,
    /^svc_proxy_call_duration_seconds_count\{operation="lifecycle.server.list",outcome="2xx"\} 1$/,
    /^svc_proxy_events_total\{what="busy"\} 1$/,
    /^svc_proxy_connections_refused_total\{reason="frame"\} 1$/,
  ])
    assert(
      values.some((line) => wanted.test(line)),
      `${wanted} in ${values.join("\n")}`,
    );
});
