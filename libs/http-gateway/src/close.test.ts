import assert from "node:assert/strict";
import { test } from "node:test";
import * as contracts from "./testing/contracts.ts";
import { startGatewayFixture } from "./testing/gateway-fixture.ts";
import { send } from "./testing/raw-request.ts";

test("closing answers a request in flight, and new ones are refused", async (t) => {
  const fixture = await startGatewayFixture();
  t.after(() => fixture.close());
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  fixture.owner.serve(contracts.leave, async () => {
    enter();
    await held;
    return { ok: true as const };
  });
  const own = await fixture.startFace();
  const answer = send(own.port, { path: "/leave", method: "POST" });
  await entered;
  const closed = own.server.close();
  release();
  assert.equal((await answer).status, 200);
  await closed;
  await assert.rejects(send(own.port, { path: "/healthz" }));
});
