// identity's SQL on a large installation: 100,000 users, a million audit rows, and codes that wait to be typed.

import { loadSettings } from "@svc/config";
import type { Context } from "@svc/mesh";
import { type AnyContract, Fault, type signIn } from "@svc/proto";
import { migrateUp, openStore, readMigrations } from "@svc/store";
import { createLogger, createRegistry } from "@svc/telemetry";
import { searchEntries } from "../../../services/identity/src/audit/search.ts";
import { settings as schema } from "../../../services/identity/src/config.ts";
import type { Tables } from "../../../services/identity/src/database.ts";
import { saveCode } from "../../../services/identity/src/email-code/store.ts";
import { createEvents } from "../../../services/identity/src/events.ts";
import { findSession } from "../../../services/identity/src/session/store.ts";
import type { SignInDeps } from "../../../services/identity/src/sign-in/deps.ts";
import { createVerifyEmail } from "../../../services/identity/src/sign-in/verify-email.ts";
import { searchUsers } from "../../../services/identity/src/user/store.ts";
import { root, runSql } from "../harness/anchors.ts";
import { need, serveParent } from "../harness/parent.ts";
import { quantile } from "../harness/statistics.ts";

const admin = new URL(need("SVC_DATABASE_URL"));
await runSql(admin.href, "create database accounts");
admin.pathname = "/accounts";
await migrateUp(admin.href, {
  schema: "identity",
  rolePassword: "bench",
  migrations: readMigrations(`${root}/services/identity/migrations`),
});
const log = createLogger("identity", "warn");
const store = openStore<Tables>({ url: admin.href, schema: "identity", poolSize: 10, log });
const { db } = store;
const settings = loadSettings(schema, {});
const users = 100_000;

/** Not through the store: a million rows take longer than a service waits for anything. */
async function fill({ entries }: { entries: number }) {
  await runSql(
    admin.href,
    `set search_path to identity;
     insert into users (id, username, email, email_verified, created_at)
       select 'usr-' || n, 'player_' || n, 'player' || n || '@example.org', true, now() - n * interval '1 minute'
       from generate_series(1, ${users}) n;
     insert into sessions (token_hash, user_id, door, created_at, expires_at, last_seen_at)
       select encode(sha256(convert_to('s' || n, 'UTF8')), 'hex'), 'usr-' || n, 'email', now(), now() + interval '12 h', now()
       from generate_series(1, ${users}) n;
     insert into audit_logs (entry_id, actor, actor_user_id, source, action, server_name, created_at)
       select 'e' || n, 'player_' || (n % 5000 + 1), 'usr-' || (n % 5000 + 1), 'external',
         (array['server.wake', 'file.write', 'auth.email.login', 'backup.create'])[n % 4 + 1],
         'server-' || (n % 2000), now() - n * interval '20 s'
       from generate_series(1, ${entries}) n;
     analyze users, sessions, audit_logs;`,
  );
}

async function p95(times: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const tookMs: number[] = [];
  for (let n = 0; n < times; n++) {
    const startedAt = performance.now();
    await work(n);
    tookMs.push(performance.now() - startedAt);
  }
  return quantile(Float64Array.from(tookMs).sort(), 0.95);
}

const page = { limit: 20, offset: 0 };

async function search({ times }: { times: number }) {
  return {
    usersMs: await p95(times, (n) => searchUsers(db, { ...page, query: `ayer${n * 37}` })),
    auditMs: await p95(times, (n) => {
      const filters = [
        { server: `server-${n % 2000}` },
        { actor: `player_${n % 5000}` },
        { action: "auth.*" },
        { server: `server-${n % 2000}`, action: "file.write" },
        {},
      ];
      return searchEntries(db, { limit: 50, ...filters[n % filters.length] });
    }),
    // Every look is at another session, so that PostgreSQL has kept none of them for it.
    sessionMs: await p95(times, (n) => findSession(db, hashes[(n * 7919) % hashes.length] ?? "")),
  };
}

let hashes: string[] = [];
async function readHashes() {
  hashes = (await db.selectFrom("sessions").select("token_hash").execute()).map((row) => row.token_hash);
}

const registry = createRegistry("identity", "bench");
const doors = {
  db,
  limits: settings.identity,
  now: () => new Date(),
  events: createEvents({ mesh: { audit: () => {} }, countRefusal: () => {}, registry }),
  hasRelay: true,
  mailQueue: { add: async () => {}, wake: () => {}, close: async () => {} },
} as unknown as SignInDeps;
const verify = createVerifyEmail(doors);

/** People who type the code they were mailed, ten at a time; every one must get in. */
async function signIns({ from, count }: { from: number; count: number }) {
  const now = new Date();
  const expiresAt = new Date(now.getTime() + 600_000);
  const people = Array.from({ length: count }, (_, index) => from + index + 1);
  for (const n of people) {
    const email = `player${n}@example.org`;
    await saveCode(db, { userId: `usr-${n}`, email, code: "123456", purpose: "sign_in", now, expiresAt });
  }
  const startedAt = performance.now();
  const queue = people.values();
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      for (const n of queue) {
        const context = contextOf();
        await verify(context, { email: `player${n}@example.org`, code: "123456" });
        if (!context.reply.session) throw new Error("no session was minted");
      }
    }),
  );
  return { perSecond: count / ((performance.now() - startedAt) / 1_000) };
}

function contextOf(): Context<typeof signIn.verifyEmail> {
  return {
    requestId: "bench",
    principal: { kind: "anonymous" },
    client: { address: "192.0.2.1", userAgent: "bench" },
    fault: (name: Fault["fault"]) => new Fault(name),
    reply: {},
  } as unknown as Context<AnyContract> as Context<typeof signIn.verifyEmail>;
}

async function prepare(about: { entries: number }) {
  await fill(about);
  await readHashes();
}

serveParent({ prepare, search, signIns });
