import assert from "node:assert/strict";
import { test } from "node:test";
import type { Core } from "../core.ts";
import { until } from "../testing.ts";
import { createPacedSending } from "./paced-sending.ts";

function watched() {
  const notices: string[] = [];
  const tryPublish = (subject: string, body: Uint8Array) => notices.push(`${subject} ${Buffer.from(body)}`);
  return { notices, send: createPacedSending({ connection: { tryPublish } } as unknown as Core) };
}

test("the first line leaves at once, and what comes within the interval leaves together after it", async () => {
  const { notices, send } = watched();
  const sent: number[] = [];
  const line = (n: number) => send("lifecycle", async () => sent.push(n));
  await Promise.all([line(0), line(1)]);
  const rest = [2, 3, 4].map(line);
  assert.deepEqual(sent, [0, 1]);
  await Promise.all(rest);
  assert.deepEqual(sent, [0, 1, 2, 3, 4]);
  await until(() => notices.length === 2);
  assert.deepEqual(notices, ["svc.live-notice.lifecycle 2", "svc.live-notice.lifecycle 5"]);
});

test("readers are noticed of what is stored, by owner, and of nothing else", async () => {
  const { notices, send } = watched();
  const outcomes = await Promise.allSettled([
    send("lifecycle", async () => 7),
    send("builds", () => Promise.reject(new Error("NATS is down"))),
    send("builds", async () => 3),
    send("lifecycle", async () => undefined),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled", "fulfilled"],
  );
  await until(() => notices.length === 2);
  assert.deepEqual(notices, ["svc.live-notice.lifecycle 7", "svc.live-notice.builds 3"]);
});
