// A part of a running stack stops answering: callers get 503 with Retry-After, never 401 or 500, and when the
// part is back everything works as before (docs/reference/data.md#owners, docs/reference/errors.md).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { assertRefused, type RawRequest, type RawResponse, sendRequest } from "../security/raw-request.ts";
import { player, type StackFixture, startStackFixture } from "../security/stack-fixture.ts";
import { freeze } from "./processes.ts";

const name = "frozen";
const server = `/api/v1/internal/servers/${name}`;
const status: RawRequest = { path: `${server}/status` };
const join: RawRequest = { method: "POST", path: `${server}/join-event`, json: { mc_uuid: player } };
const me: RawRequest = { path: "/api/v1/me" };
const fleet: RawRequest = { path: "/api/v1/fleet" };
const patch: RawRequest = {
  method: "PATCH",
  path: `/api/v1/servers/${name}`,
  json: { displayName: "Frozen" },
};
const unreachable = /not reachable|cannot be read|not ready|try again/;

let opened: StackFixture | undefined;
const fixture = (): StackFixture => {
  assert.ok(opened, "the stack did not start");
  return opened;
};
before(async () => {
  // Nothing is remembered of a session, so that each call asks identity.
  opened = await startStackFixture(["--set", "gateway.session_cache=1ms"]);
  assert.equal((await opened.redeem()).status, 200);
  await opened.leaveSetup();
  const json = { name, subdomain: name, autostartPolicy: "public" };
  const created = await opened.asOwner({ method: "POST", path: "/api/v1/servers", json });
  assert.equal(created.status, 201, created.text);
  await until(
    async () => {
      return (await fixture().asProxy(status)).status === 200;
    },
    10_000,
    "the new server in the view of the gateway",
  );
});
after(() => opened?.stop());

const ready = () => sendRequest(fixture().port("internal"), { path: "/readyz" });
const health = () =>
  Promise.all(
    (["internal", "external"] as const).map((face) =>
      sendRequest(fixture().port(face), { path: "/healthz" }),
    ),
  );

function assertUnavailable(reply: RawResponse, codes: readonly string[], about: string): void {
  const { error } = JSON.parse(reply.text) as { error?: { code: string } };
  const code = error?.code ?? "";
  assert.ok(codes.includes(code), `${about} was answered ${reply.status} ${reply.text}`);
  assertRefused(reply, { status: 503, code, says: unreachable }, about);
}

/** While `part` answers nothing: all calls at once. Afterwards: everything works again. */
async function whileFrozen(part: string, calls: () => Promise<void>): Promise<void> {
  const thaw = freeze(fixture().stack, part);
  try {
    await calls();
    for (const reply of await health()) assert.equal(reply.status, 200, "the process itself is well");
  } finally {
    thaw();
  }
  await until(
    async () => {
      const { asProxy, asOwner } = fixture();
      const replies = await Promise.all([
        ready(),
        asProxy(status),
        asProxy(join),
        asOwner(me),
        asOwner(fleet),
      ]);
      const codes = replies.map((reply) => reply.status);
      const isWell = codes.every((code) => code === 200 || code === 204);
      if (!isWell) throw new Error(`answers ${codes.join(" ")}`);
      return isWell;
    },
    30_000,
    `everything to work again after ${part}`,
  );
}

test("without identity a session is 503, never 401, and the internal face keeps working", async () => {
  await whileFrozen("identity", async () => {
    const { asOwner, asProxy } = fixture();
    const forged = { ...me, headers: { cookie: `svc_session=${"A".repeat(43)}` } };
    const setup = { method: "POST", path: "/api/v1/auth/setup/redeem", json: { token: "x" } };
    const asked = [me, fleet, patch, forged, setup];
    const replies = await Promise.all(asked.map(asOwner));
    for (const [index, reply] of replies.entries())
      assertUnavailable(reply, ["auth_unavailable"], asked[index]?.path ?? "");
    assert.equal((await asProxy(status)).status, 200);
    assert.equal((await asProxy(join)).status, 204);
  });
});

test("without lifecycle its operations are 503, and the proxy still reads the last known status", async () => {
  await whileFrozen("lifecycle", async () => {
    const { asOwner, asProxy } = fixture();
    const [readiness, joined, patched] = await Promise.all([ready(), asProxy(join), asOwner(patch)]);
    for (const reply of [joined, patched]) assertUnavailable(reply, ["unavailable"], "lifecycle");
    // Served from memory only while somebody vouches for who owns what.
    const frozenAt = performance.now();
    const listed = await until(
      async () => {
        const reply = await asOwner(fleet);
        return reply.status === 200 ? undefined : reply;
      },
      20_000,
      "the fleet to be refused",
    );
    assertUnavailable(listed, ["unavailable"], "fleet");
    assert.ok(performance.now() - frozenAt < 15_000);
    assertUnavailable(readiness, ["unavailable", "not_ready"], "/readyz");
    assert.equal((await asProxy(status)).status, 200);
    assert.equal((await asOwner(me)).status, 200);
  });
});

test("without PostgreSQL operations that need it are 503, and /readyz names the database", async () => {
  await whileFrozen("postgres", async () => {
    const { asOwner, asProxy } = fixture();
    const [readiness, joined, who] = await Promise.all([ready(), asProxy(join), asOwner(me)]);
    assertRefused(readiness, { status: 503, code: "not_ready", says: /database/ }, "/readyz");
    assertUnavailable(joined, ["unavailable"], "join-event");
    assertUnavailable(who, ["auth_unavailable"], "me");
    assert.equal((await asProxy(status)).status, 200);
  });
});

test("without the cluster /readyz names it, and known statuses are still served", async () => {
  await whileFrozen("local-cluster", async () => {
    const { asOwner, asProxy } = fixture();
    const readiness = await ready();
    assertRefused(readiness, { status: 503, code: "not_ready", says: /cluster/ }, "/readyz");
    assert.equal((await asProxy(status)).status, 200);
    assert.equal((await asOwner(me)).status, 200);
  });
});

test("without NATS every operation is 503, and the processes keep running", async () => {
  const before = fixture().stack.file().processes;
  await whileFrozen("nats", async () => {
    const [readiness, who] = await Promise.all([ready(), fixture().asOwner(me)]);
    assertUnavailable(readiness, ["unavailable", "not_ready"], "/readyz");
    assertUnavailable(who, ["auth_unavailable"], "me");
  });
  assert.deepEqual(fixture().stack.file().processes, before);
});
