import assert from "node:assert/strict";
import { test } from "node:test";
import { type FrameSource, listFor, maySend } from "./policy.ts";

const types = [
  "ListRequest",
  "ListUpdate",
  "StatusQuery",
  "StatusUpdate",
  "WakeRequest",
  "ClaimRequest",
  "TransferReady",
  "Error",
  "LoginRelease",
] as const;

test("the lobby may send its four frames, the gate its release, clients and user servers nothing", () => {
  const sent = (source: FrameSource) => types.filter((type) => maySend(source, type));
  assert.deepEqual(sent("client"), []);
  assert.deepEqual(sent("server"), []);
  assert.deepEqual(sent("gate"), ["LoginRelease"]);
  assert.deepEqual(sent("lobby"), ["ListRequest", "StatusQuery", "WakeRequest", "ClaimRequest"]);
});

test("a player's own servers come first, then the rest by name, with their verdicts aside", () => {
  const verdicts = { b: "owner", a: "wake", c: "owner" } as const;
  assert.deepEqual(listFor(["d", "a", "c", "b"], verdicts, { names: 500, bytes: 32_767 }), {
    servers: ["b", "c", "a", "d"],
    access: ["owner", "owner", "wake", ""],
  });
});

test("a list holds at most 500 names and never more than a plugin message", () => {
  const names = Array.from({ length: 700 }, (_, index) => `server-${String(index).padStart(24, "0")}`);
  const verdicts = Object.fromEntries(names.map((name) => [name, "start_failed" as const]));
  const list = listFor(names, verdicts, { names: 500, bytes: 32_767 });
  assert.equal(list.servers.length, 500);
  const long = listFor(names, verdicts, { names: 500, bytes: 2_000 });
  assert(long.servers.length > 10);
  assert(Buffer.byteLength(JSON.stringify({ type: "ListUpdate", ...long })) <= 2_000);
});
