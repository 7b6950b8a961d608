import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import type { Store } from "@svc/store";
import type { TestDatabase } from "@svc/store/testing";
import { createLogger } from "@svc/telemetry";
import { saveEntry } from "../audit/store.ts";
import type { Tables } from "../database.ts";
import { createIdentityDatabase } from "../testing/fixture.ts";
import { startRetention } from "./loop.ts";
import { planSweep, sweep } from "./sweep.ts";

const day = 86_400_000;
const now = new Date("2026-06-01T00:00:00Z");
const ago = (ms: number) => new Date(now.getTime() - ms);

test("an audit log without a retention period is not swept", () => {
  const plan = planSweep(now, { expiredKeepMs: 30 * day, auditKeepMs: null });
  assert.ok(!plan.some(({ table }) => table === "audit_logs"));
});

describe("retention", () => {
  let database: TestDatabase;
  let store: Store<Tables>;
  before(async () => {
    database = await createIdentityDatabase();
    store = database.open<Tables>();
    await store.db.insertInto("users").values({ id: "u", username: "u" }).execute();
    for (const [index, expiresAt] of [ago(30 * day), ago(30 * day + 1)].entries())
      await addExpired(index, expiresAt);
    for (const [index, at] of [ago(365 * day), ago(365 * day + 1)].entries()) {
      const entry = {
        id: `e-${index}`,
        at: at.toISOString(),
        actor: "a",
        action: "b",
        payload: {},
        source: "s",
      };
      await saveEntry(store.db, entry);
    }
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  const addExpired = async (index: number, at: Date) => {
    const hash = String(index).repeat(64);
    const common = { user_id: "u", expires_at: at, created_at: at };
    const { db } = store;
    await db
      .insertInto("sessions")
      .values({ ...common, token_hash: hash, door: "setup", last_seen_at: at })
      .execute();
    await db
      .insertInto("setup_tokens")
      .values({ ...common, token_hash: hash })
      .execute();
    for (const end of ["expires", "revoked"] as const) {
      const token = {
        id: `${end}-${hash}`,
        token_hash: `${end}-${hash}`,
        name: "a",
        rights: [],
        servers: null,
      };
      const ends = end === "expires" ? {} : { expires_at: now, revoked_at: at };
      await db
        .insertInto("api_tokens")
        .values({ ...common, ...token, ...ends })
        .execute();
    }
    const code = { id: hash, email: "a@example.org", code_hash: hash, purpose: "reauth" as const };
    await db
      .insertInto("email_otps")
      .values({ ...common, ...code })
      .execute();
    await db
      .insertInto("otp_failure_windows")
      .values({ user_id: "u", purpose: hash, window_start: at, failures: 1 })
      .execute();
    await db.insertInto("otp_reservations").values({ key: hash, free_at: at }).execute();
    await db.insertInto("sign_in_budgets").values({ key: hash, tokens: 1, refilled_at: at }).execute();
    await db.insertInto("mail_budgets").values({ key: hash, tokens: 1, refilled_at: at }).execute();
    await db
      .insertInto("op_login_requests")
      .values({ ...common, id: hash, email: "a@example.org" })
      .execute();
    const mcUuid = `00000000-0000-4000-8000-00000000000${index}`;
    await db
      .insertInto("account_link_codes")
      .values({ code_hash: hash, mc_uuid: mcUuid, auth_source: "mojang", expires_at: at, created_at: at })
      .execute();
    await db
      .insertInto("player_data_holds")
      .values({ id: hash, mc_uuid: mcUuid, username: "a", held_at: at, expires_at: at })
      .execute();
    const login = { network: "n", client_ip: "", user_agent: "", created_at: at, expires_at: at };
    await db
      .insertInto("cli_logins")
      .values({ ...login, secret_hash: hash, code_hash: hash, host: "player" })
      .execute();
    const visit = { issuer: "i", host: "player", nonce: "n", verifier: "v", network: "n" } as const;
    await db
      .insertInto("oidc_logins")
      .values({ ...visit, state_hash: hash, secret_hash: hash, created_at: at, expires_at: at })
      .execute();
    await db
      .insertInto("webauthn_challenges")
      .values({ ...common, id: hash, purpose: "login", challenge: hash })
      .execute();
    await addMigrations(hash, at);
  };
  // An account has at most one unfinished migration, so each state has its own account.
  const addMigrations = async (hash: string, at: Date) => {
    for (const state of ["initiated", "redeeming", "redeemed"] as const) {
      const id = `${state}-${hash}`;
      await store.db.insertInto("users").values({ id, username: id }).execute();
      const over = { target_user_id: "u", code_hash: id, code_expires_at: at, leased_until: at };
      const ends = { servers: "[]", redeemed_at: at };
      await store.db
        .insertInto("account_migrations")
        .values({ id, source_user_id: id, state, created_at: at, updated_at: at, ...over, ...ends })
        .execute();
    }
  };

  test("deletes what expired over 30 days ago and audit entries past their retention", async () => {
    const plan = planSweep(now, { expiredKeepMs: 30 * day, auditKeepMs: 365 * day });
    assert.deepEqual(await sweep(store.db, plan), {
      sessions: 1,
      api_tokens: 2,
      email_otps: 1,
      setup_tokens: 1,
      otp_failure_windows: 1,
      otp_reservations: 2,
      sign_in_budgets: 2,
      mail_budgets: 2,
      op_login_requests: 1,
      cli_logins: 2,
      oidc_logins: 2,
      account_link_codes: 1,
      webauthn_challenges: 2,
      player_data_holds: 2,
      account_migrations: 1,
      audit_logs: 1,
    });
  });

  test("deletes in batches until nothing is left", async () => {
    await database.admin(
      `insert into identity.sign_in_budgets
       select 'flood-' || n, 1, $1::timestamptz from generate_series(1, 12000) n`,
      [ago(day)],
    );
    const plan = planSweep(now, { expiredKeepMs: 30 * day, auditKeepMs: null });
    assert.equal((await sweep(store.db, plan))["sign_in_budgets"], 12_000);
  });

  test("runs periodically until closed", async () => {
    const ages = { expiredKeepMs: 30 * day, auditKeepMs: null };
    const log = createLogger("identity", "silent");
    const loop = startRetention({ db: store.db, ages, firstMs: 1, everyMs: 1, now: () => now, log });
    const left = async () =>
      (await database.admin("select count(*)::int as n from identity.sign_in_budgets"))[0]?.["n"];
    for (const key of ["one", "two"]) {
      await store.db
        .insertInto("sign_in_budgets")
        .values({ key, tokens: 1, refilled_at: ago(day) })
        .execute();
      await until(async () => (await left()) === 0);
    }
    await loop.close();
  });
});
