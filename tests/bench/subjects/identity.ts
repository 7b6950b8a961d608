// A stand-in for identity: every session is live on every host, sign-ins are answered at once without a database, and the
// outbox with its relay is the real one.

import { connectMesh } from "@svc/mesh";
import { accounts, signIn } from "@svc/proto";
import { openStore, outboxRow, startOutboxRelay } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import { need, serveParent } from "../harness/parent.ts";

const log = createLogger("identity", "warn");
const url = need("SVC_DATABASE_URL");
const schema = "identity";
const mesh = await connectMesh({
  service: "identity",
  url: need("SVC_NATS_URL"),
  user: "identity",
  password: need("SVC_NATS_PASSWORD"),
  version: "bench",
  log,
});
mesh.serve(
  accounts.resolveSession,
  ({ client }): accounts.SessionAnswer => ({
    state: "live",
    user_id: "usr-bench",
    username: "bench",
    role: "owner",
    setup: false,
    host: client.host ?? "player",
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  }),
);
mesh.serve(accounts.takeSignInBudget, () => ({ allowed: true, retry_after_seconds: 0 }));
mesh.serve(signIn.options, () => ({ methods: [] }));
mesh.serve(accounts.startEmail, () => ({ sent: true as const, expires_at: "2999-01-01T00:00:00.000Z" }));
await mesh.announce();
const store = openStore({ url, schema, poolSize: 10, log });
let relay: ReturnType<typeof startOutboxRelay> | undefined;

const nowNs = () => Number(process.hrtime.bigint());
const hashOf = (index: number) => index.toString(16).padStart(64, "0");

/** Commits events one by one and answers when each commit was back, on the machine's monotonic clock. */
async function commitEach({ from, count, everyMs }: { from: number; count: number; everyMs: number }) {
  const committedNs: number[] = [];
  for (let index = from; index < from + count; index += 1) {
    const revoked = { hash: hashOf(index), user_id: "usr-bench", at: new Date().toISOString() };
    await store.db
      .transaction()
      .execute((trx) =>
        trx.insertInto("outbox").values(outboxRow(accounts.sessionRevoked, revoked)).execute(),
      );
    committedNs.push(nowNs());
    await new Promise((wake) => setTimeout(wake, everyMs));
  }
  return committedNs;
}

/** Fills the outbox while no relay runs, then measures how long the relay needs to empty it. */
async function drain(count: number): Promise<{ perSecond: number }> {
  await stopRelay();
  const data = { hash: hashOf(0), user_id: "usr-bench", at: "2026-01-01T00:00:00.000Z" };
  const row = outboxRow(accounts.sessionRevoked, data);
  for (let left = count; left > 0; left -= 5_000)
    await store.db
      .insertInto("outbox")
      .values(Array.from({ length: Math.min(5_000, left) }, () => row))
      .execute();
  const startedAt = performance.now();
  startRelay();
  for (;;) {
    const left = await store.db.selectFrom("outbox").select("subject").limit(1).execute();
    if (left.length === 0) break;
    await new Promise((wake) => setTimeout(wake, 5));
  }
  return { perSecond: count / ((performance.now() - startedAt) / 1_000) };
}

function startRelay(): void {
  relay ??= startOutboxRelay({ url, schema, publish: mesh.publish, log });
}

async function stopRelay(): Promise<void> {
  await relay?.close();
  relay = undefined;
}

serveParent({ startRelay, stopRelay, commitEach, drain });
