import assert from "node:assert/strict";
import { test } from "node:test";
import type { Operation, Owner, Principal } from "@svc/proto";
import type { Call } from "./call.ts";
import { createRecentChanges } from "./recent-changes.ts";

const account = (user_id: string) => ({ kind: "account", user_id }) as Principal;
const operation = (owner: Owner, method: string) => ({ owner, http: { method } }) as Operation;

function setUp() {
  let now = 0;
  const changes = createRecentChanges(() => now);
  const request = (principal: Principal, contract: Operation, isRefused = false) =>
    changes
      .noting(contract, async () => {
        if (isRefused) throw new Error("refused");
      })({ principal } as Call)
      .catch(() => {});
  const pass = (ms: number) => {
    now += ms;
  };
  return { changes, request, pass };
}

const [ours, other] = [account("usr-1"), account("usr-2")];
const service = { kind: "service", service: "proxy" } as unknown as Principal;
const table: [fact: string, by: Principal, method: string, passedMs: number, expected: boolean][] = [
  ["a change counts at once", ours, "POST", 0, true],
  ["it counts for two seconds", ours, "PATCH", 1_999, true],
  ["not for longer", ours, "DELETE", 2_000, false],
  ["a read changes nothing", ours, "GET", 0, false],
  ["the change of another account does not count", other, "POST", 0, false],
];
for (const [fact, by, method, passedMs, expected] of table)
  test(fact, async () => {
    const { changes, request, pass } = setUp();
    await request(by, operation("lifecycle", method));
    pass(passedMs);
    assert.equal(changes.has(ours), expected);
  });

test("a refused change counts: it may have been made all the same", async () => {
  const { changes, request } = setUp();
  await request(ours, operation("lifecycle", "POST"), true);
  assert.ok(changes.has(ours));
});

test("services are not noted", async () => {
  const { changes, request } = setUp();
  await request(service, operation("lifecycle", "POST"));
  assert.equal(changes.has(service), false);
});

test("changes are known by their owner, each for its own two seconds", async () => {
  const { changes, request, pass } = setUp();
  await request(ours, operation("identity", "POST"));
  pass(1_500);
  await request(ours, operation("lifecycle", "POST"));
  assert.ok(changes.has(ours, ["identity"]));
  assert.ok(changes.has(ours, ["storage", "lifecycle"]));
  assert.equal(changes.has(ours, ["storage"]), false);
  assert.equal(changes.has(ours, []), false);
  pass(600);
  assert.equal(changes.has(ours, ["identity"]), false);
  assert.ok(changes.has(ours));
});
