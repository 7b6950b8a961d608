import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ApiError } from "@svc/client";
import { Fault, type migrations } from "@svc/proto";
import { RefusedError } from "../account/refusal.ts";
import { followMove } from "./follow.ts";

type Move = migrations.WorldMigration;
const move = (state: Move["state"], id = "mv-1") => ({ id, server: "survival", state }) as Move;

async function follow(...states: Move[]) {
  const said: string[] = [];
  const read = async () => states.shift() ?? assert.fail("read once too often");
  const end = await followMove(move("backing_up"), { read, say: (text) => said.push(text) });
  return { said, end };
}

describe("a move that is followed", () => {
  test("says each state once, and not how it ended", async () => {
    const { said, end } = await follow(move("restoring"), move("restoring"), move("succeeded"));
    assert.deepEqual([said, end.state], [["restoring"], "succeeded"]);
  });
  test("goes on when its owner could not be asked for a moment, over NATS or the external face", async () => {
    const away = { code: "unavailable", retryAfterSeconds: undefined } as ApiError;
    const refusals = [new Fault("unavailable"), new RefusedError("storage is away", away)];
    const read = async () => {
      const refusal = refusals.shift();
      if (refusal) throw refusal;
      return move("succeeded");
    };
    const end = await followMove(move("backing_up"), { read, say: () => undefined });
    assert.equal(end.state, "succeeded");
  });
  test("ends when it has failed", async () => {
    assert.equal((await follow(move("failed"))).end.state, "failed");
  });
  test("fails when another one has taken its place", async () => {
    const { end } = await follow(move("succeeded", "mv-2"));
    assert.deepEqual([end.id, end.state, end.error], ["mv-1", "failed", "another move has begun"]);
  });
});
