import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@svc/client";
import { createTestClock } from "@svc/minecraft/testing";
import { createBatchedPoll } from "./batched-poll.ts";
import type { Answer } from "./policy.ts";

const refusal = (status: number) => new ApiError("refused", { status, code: "x", requestId: "r" });

/** A batched poll whose requests can be read; `asked` holds the size of each batch. */
function assemble() {
  const { clock, pass, sleeping } = createTestClock();
  const asked: number[] = [];
  const singly: string[] = [];
  const service = { linked: [] as string[], error: undefined as unknown };
  const poll = createBatchedPoll({
    askAll: async (uuids) => {
      asked.push(uuids.length);
      if (service.error !== undefined) throw service.error;
      return service.linked;
    },
    askOne: async (uuid) => {
      singly.push(uuid);
      return { kind: service.linked.includes(uuid) ? "linked" : "unlinked" };
    },
    answerOf: () => ({ kind: "outage" }),
    ...{ clock, pollMs: 1_000, oneByOneMs: 60_000 },
  });
  const staying = new AbortController().signal;
  const heard: Answer["kind"][] = [];
  const stand = (uuid: string, left = staying) =>
    poll(uuid, left).then(
      ({ kind }) => heard.push(kind),
      () => heard.push("sent"),
    );
  return { stand, heard, asked, singly, service, pass, sleeping };
}

test("all waiting players are polled in one call, a second after the first of them", async () => {
  const { stand, heard, asked, service, pass } = assemble();
  service.linked = ["b", "a stranger"];
  void stand("a");
  await pass(600);
  void stand("b");
  await pass(399);
  assert.deepEqual(asked, []);
  await pass(1);
  assert.deepEqual([asked, heard], [[2], ["unlinked", "linked"]]);
});

test("a repeated poll runs a second later, and an empty gate polls nothing", async () => {
  const { stand, asked, pass, sleeping } = assemble();
  void stand("a").then(() => stand("a"));
  await pass(2_000);
  assert.deepEqual(asked, [1, 1]);
  await pass(10_000);
  assert.deepEqual([asked, sleeping()], [[1, 1], 0]);
});

test("more players than one call takes are several calls", async () => {
  const { stand, heard, asked, pass } = assemble();
  for (let index = 0; index < 1_001; index++) void stand(`p${index}`);
  await pass(1_000);
  assert.deepEqual([asked, heard.length], [[500, 500, 1], 1_001]);
});

test("players who have left are not polled", async () => {
  const { stand, heard, asked, pass } = assemble();
  const leaving = new AbortController();
  void stand("a", leaving.signal);
  void stand("b");
  leaving.abort();
  await pass(1_000);
  assert.deepEqual([asked, heard.sort()], [[1], ["sent", "unlinked"]]);
});

const closedDoors = { "knows no such call": 404, "takes no such call": 405, "allows it to others only": 403 };
for (const [name, status] of Object.entries(closedDoors)) {
  test(`a service that ${name} is asked one by one, and together again a minute later`, async () => {
    const { stand, heard, asked, singly, service, pass } = assemble();
    service.error = refusal(status);
    service.linked = ["b"];
    void stand("a");
    void stand("b");
    await pass(1_000);
    assert.deepEqual([asked, singly, heard], [[2], ["a", "b"], ["unlinked", "linked"]]);
    void stand("a");
    await pass(1_000);
    assert.deepEqual([asked, singly.length], [[2], 3]);
    service.error = undefined;
    await pass(60_000);
    void stand("a");
    await pass(1_000);
    assert.deepEqual([asked, singly.length], [[2, 1], 3]);
  });
}

test("a batch refused as a bad request is polled one by one, so that one odd player does not block the others", async () => {
  const { stand, asked, singly, service, pass } = assemble();
  service.error = refusal(400);
  void stand("a");
  await pass(1_000);
  void stand("a");
  await pass(1_000);
  assert.deepEqual([asked, singly.length], [[1, 1], 2]);
});

for (const [name, error] of [
  ["away", new Error("connect ECONNREFUSED")],
  ["broken", refusal(503)],
  ["sick of our token", refusal(401)],
] as const) {
  test(`a service that is ${name} is an outage for everybody, and nobody is asked about one by one`, async () => {
    const { stand, heard, singly, service, pass } = assemble();
    service.error = error;
    void stand("a");
    void stand("b");
    await pass(1_000);
    assert.deepEqual([heard, singly], [["outage", "outage"], []]);
  });
}
