import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { type AccountPrincipal, accounts } from "@svc/proto";
import type { TestDatabase } from "@svc/store/testing";
import { createLogger } from "@svc/telemetry";
import type { Limits } from "../config.ts";
import type { Tables } from "../database.ts";
import { sha256 } from "../secret.ts";
import { createIdentityDatabase, type Fixture, startFixture, stateOf } from "../testing/fixture.ts";
import { ensureOwner } from "./ensure-owner.ts";
import { decideSetup } from "./policy.ts";
import { createSetupToken } from "./store.ts";

const minute = 60_000;

test("an owner who can sign in gets no link", () => {
  assert.equal(decideSetup({ hasDurableSignIn: true, liveTokens: 0 }), "nothing");
});
test("a valid link is kept", () => {
  assert.equal(decideSetup({ hasDurableSignIn: false, liveTokens: 1 }), "keep");
});
test("an owner without a way in and without a link gets one", () => {
  assert.equal(decideSetup({ hasDurableSignIn: false, liveTokens: 0 }), "mint");
});

describe("the first owner", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-setup-"));
  const file = join(dir, "setup-url");
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({
      set: [
        `identity.setup_url_file=${file}`,
        "server.root_domain=svc.localhost",
        'auth.extra_origins=["http://console.svc.localhost:8080", "http://op.console.svc.localhost:8080"]',
      ],
    });
  });
  after(async () => {
    await fixture.stop();
    rmSync(dir, { recursive: true });
  });
  const token = () => new URL(readFileSync(file, "utf8").trim()).searchParams.get("token") ?? "";

  test("a start without an owner writes a link that only this operating-system account may read", () => {
    const link = readFileSync(file, "utf8");
    assert.match(link, /^http:\/\/op\.console\.svc\.localhost:8080\/setup\?token=[A-Za-z0-9_-]{43}\n$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  test("only the sha-256 of the token is stored", async () => {
    const rows = await fixture.database.admin("select * from identity.setup_tokens");
    assert.equal(rows.length, 1);
    assert.equal(rows[0]?.["token_hash"], sha256(token()));
  });

  test("an unknown token is rejected, counted and audited", async () => {
    const { fault } = await fixture.refused(accounts.redeemSetup, { token: "nonsense" });
    assert.equal(fault, "setup_token_invalid");
    assert.equal(await fixture.metric('svc_auth_failures_total{door="setup",reason="bad_code"}'), 1);
    await until(async () => (await actions(fixture)).includes("auth.setup.failed"));
  });

  test("a link can be used repeatedly until the owner has a way in, then it is spent and removed", async () => {
    const link = token();
    const client = { address: "192.0.2.1", userAgent: "x".repeat(400) };
    const redeem = () => fixture.forward(accounts.redeemSetup, { token: link }, { client });
    const [first, second] = [await redeem(), await redeem()];
    const grant = first?.session;
    assert.ok(grant && second?.session);
    assert.equal(Date.parse(grant.expires_at), fixture.now().getTime() + 12 * 60 * minute);
    const state = JSON.parse(Buffer.from(first?.body ?? []).toString()) as accounts.SetupState;
    assert.deepEqual(
      { ...state, user_id: "" },
      {
        user_id: "",
        username: "owner",
        role: "owner",
        email: "",
        email_verified: false,
        has_passkey: false,
        setup_required: true,
      },
    );
    const hash = sha256(grant.value);
    const session = await stateOf(fixture, hash);
    assert.ok(session.state === "live" && session.setup && session.user_id === state.user_id);
    await until(async () => (await actions(fixture)).includes("auth.setup.redeem"));
    const [row] = await fixture.database.admin(
      "select reauth_at, user_agent, client_ip from identity.sessions",
    );
    assert.ok(row?.["reauth_at"]);
    assert.equal(String(row["user_agent"]).length, 256);
    assert.equal(row["client_ip"], "192.0.2.1");

    const owner: AccountPrincipal = {
      kind: "account",
      user_id: state.user_id,
      username: "owner",
      role: "owner",
      staff: true,
      session: hash,
      setup: true,
    };
    await fixture.gateway.call(accounts.startEmail, { email: "o@example.org" }, { principal: owner });
    const wrong = fixture.refused(accounts.verifyEmail, { code: "no code" }, { principal: owner });
    assert.equal((await wrong).fault, "invalid_code");
    assert.equal(existsSync(file), true);
    const code = fixture.smtp.codeTo("o@example.org");
    await fixture.gateway.call(accounts.verifyEmail, { code }, { principal: owner });
    assert.equal(existsSync(file), false);
    assert.equal((await fixture.refused(accounts.redeemSetup, { token: link })).fault, "setup_token_invalid");
    assert.equal((await stateOf(fixture, hash)).state, "live");
    assert.equal((await stateOf(fixture, sha256(second.session.value))).state, "unknown");
    await fixture.database.admin("update identity.users set email = null, email_verified = false");
  });

  test("of parallel redeems of a link to an account that has a way in, one signs in", async () => {
    const owner = await fixture.person({ role: "admin", email: "in@example.org", emailVerified: true });
    const link = await fixture.store.db
      .transaction()
      .execute((trx) => createSetupToken(trx, { userId: owner.userId, now: fixture.now(), ttlMs: minute }));
    const tries = await Promise.allSettled(
      [1, 2, 3, 4].map(() => fixture.forward(accounts.redeemSetup, { token: link })),
    );
    assert.equal(tries.filter(({ status }) => status === "fulfilled").length, 1);
    assert.equal((await fixture.refused(accounts.redeemSetup, { token: link })).fault, "setup_token_invalid");
  });

  test("a restart creates a new link while the owner has no way in", async () => {
    assert.equal(await restart(fixture, file), "mint");
    assert.equal(await restart(fixture, file), "keep");
  });

  test("a link expires after 30 minutes, and the next start creates a new one", async () => {
    const old = token();
    fixture.pass(30 * minute);
    assert.equal((await fixture.refused(accounts.redeemSetup, { token: old })).fault, "setup_token_invalid");
    assert.equal(await restart(fixture, file), "mint");
    assert.notEqual(token(), old);
  });

  test("setup/status returns the progress of the account, and 404 for one that is gone", async () => {
    const admin = await fixture.person({ role: "admin", email: "Admin@example.org", emailVerified: true });
    const state = await fixture.gateway.call(accounts.setupStatus, {}, { principal: admin.principal });
    assert.deepEqual(
      [state.email, state.email_verified, state.setup_required],
      ["Admin@example.org", true, false],
    );
    const principal = { ...admin.principal, user_id: "nobody" };
    assert.equal((await fixture.refused(accounts.setupStatus, {}, { principal })).fault, "not_found");
  });

  test("`me` shows staff rights only on the operator console host", async () => {
    const owner = await fixture.person({ role: "owner" });
    const seen = async (staff: boolean) => {
      const principal = { ...owner.principal, staff };
      const { role, is_admin, is_owner, email } = await fixture.gateway.call(accounts.me, {}, { principal });
      return [role, is_admin, is_owner, email];
    };
    assert.deepEqual(await seen(true), ["owner", true, true, ""]);
    assert.deepEqual(await seen(false), ["owner", false, false, ""]);
    const admin = await fixture.person({ role: "admin" });
    const { is_admin, is_owner } = await fixture.gateway.call(
      accounts.me,
      {},
      { principal: admin.principal },
    );
    assert.deepEqual([is_admin, is_owner], [true, false]);
  });

  test("a failed write of the session leaves the token usable", async () => {
    const usable = token();
    await fixture.database.admin(
      "alter table identity.sessions add constraint broken check (false) not valid",
    );
    assert.equal((await fixture.refused(accounts.redeemSetup, { token: usable })).fault, "internal");
    await fixture.database.admin("alter table identity.sessions drop constraint broken");
    await fixture.gateway.call(accounts.redeemSetup, { token: usable });
  });

  test("an owner with a verified e-mail address gets no link, and a stale one is removed", async () => {
    await fixture.database.admin(
      "update identity.users set email = 'o@example.org', email_verified = true where username = 'owner'",
    );
    writeFileSync(file, "stale");
    assert.equal(await restart(fixture, file), "nothing");
    assert.equal(existsSync(file), false);
  });
});

describe("replicas that start together", () => {
  let database: TestDatabase;
  const dir = mkdtempSync(join(tmpdir(), "svc-setup-"));
  before(async () => {
    database = await createIdentityDatabase();
  });
  after(async () => {
    await database.drop();
    rmSync(dir, { recursive: true });
  });
  const start = async (file: string) => {
    const store = database.open<Tables>();
    try {
      const limits = { setup_url_file: file, setup_token_ttl: 30 * minute } as Limits;
      return await ensureOwner({
        db: store.db,
        limits,
        now: () => new Date(),
        hasRelay: true,
        issuers: [],
        origin: "https://op.console.example.org",
        log: createLogger("identity", "silent"),
      });
    } finally {
      await store.close();
    }
  };

  test("without a configured file no token is created", async () => {
    assert.equal(await start(""), "mint");
    assert.deepEqual(await database.admin("select * from identity.setup_tokens"), []);
  });

  test("when the file cannot be written, no token is stored", async () => {
    await assert.rejects(start(join(dir, "missing", "setup-url")), /ENOENT/);
    assert.deepEqual(await database.admin("select * from identity.setup_tokens"), []);
  });

  test("create one owner and one link", async () => {
    const steps = await Promise.all([1, 2, 3].map(() => start(join(dir, "setup-url"))));
    assert.deepEqual(steps.toSorted(), ["keep", "keep", "mint"]);
    assert.equal((await database.admin("select id from identity.users")).length, 1);
  });
});

async function actions(fixture: Fixture): Promise<unknown[]> {
  return (await fixture.database.admin("select action from identity.audit_logs")).map((row) => row["action"]);
}

function restart(fixture: Fixture, file: string) {
  return ensureOwner({
    db: fixture.store.db,
    limits: { setup_url_file: file, setup_token_ttl: 30 * minute } as Limits,
    now: fixture.now,
    hasRelay: true,
    issuers: [],
    origin: "https://op.console.example.org",
    log: createLogger("identity", "silent"),
  });
}
