import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { testProgram } from "@svc/config/test-program";
import { until } from "@svc/mesh/testing";
import { apiTokens, type InputOf, isFault, users } from "@svc/proto";
import { isApiToken } from "@svc/proto/api-token";
import { sha256 } from "../secret.ts";
import { type Fixture, type Person, startFixture } from "../testing/fixture.ts";
import type { KillPoint } from "../testing/killed-process.ts";

const program = testProgram(fileURLToPath(new URL("../testing/killed-api-token.ts", import.meta.url)));
const day = 86_400_000;
type NewToken = InputOf<typeof apiTokens.create>;
const wanted: NewToken = { name: "deploy", rights: ["see", "power"], expires_in_days: 30 };

describe("API tokens", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ set: ["identity.api_tokens_per_account=3"] });
    await fixture.addReplica();
  });
  after(() => fixture.stop());

  const as = ({ principal }: Person) => ({
    principal,
    client: { address: "192.0.2.7", userAgent: "browser" },
  });
  const create = (person: Person, more: Partial<NewToken> = {}) =>
    fixture.gateway.call(apiTokens.create, { ...wanted, ...more }, as(person));
  const list = async (person: Person) => (await fixture.gateway.call(apiTokens.list, {}, as(person))).tokens;
  const resolve = (secret: string, address = "192.0.2.8") =>
    fixture.gateway.call(
      apiTokens.resolve,
      { hash: sha256(secret) },
      { client: { address, userAgent: "ci" } },
    );
  const revoke = (person: Person, id: string) => fixture.gateway.call(apiTokens.revoke, { id }, as(person));
  const faultOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(isFault(error), String(error));
    return error.fault;
  };
  const actionsOf = async ({ userId }: Person) =>
    fixture.database.admin(
      "select action, payload, source from identity.audit_logs where actor_user_id = $1 order by id",
      [userId],
    );
  const verified = (isProof = true) =>
    fixture.person({ email: `${Math.random()}@example.org`, emailVerified: true, isProof });

  test("the secret is in the answer alone; its hash is stored, and the audit log has neither", async () => {
    const person = await fixture.person();
    const { token, secret } = await create(person, { servers: ["alpha", "alpha"], rights: ["see", "see"] });
    assert.ok(isApiToken(secret));
    assert.deepEqual([token.servers, token.rights], [["alpha"], ["see"]]);
    assert.equal(Date.parse(token.expires_at) - fixture.now().getTime(), 30 * day);
    assert.deepEqual(await list(person), [token]);
    await until(async () => (await actionsOf(person)).length > 0);
    const [entry] = await actionsOf(person);
    assert.equal(entry?.["action"], "account.token.create");
    for (const table of ["api_tokens", "audit_logs", "outbox", "handled_requests"]) {
      const rows = await fixture.database.admin(`select t::text as text from identity.${table} t`);
      assert.ok(
        rows.every(({ text }) => !String(text).includes(secret)),
        table,
      );
    }
  });

  test("a token is told its own rights and servers, a session that it is none", async () => {
    const { principal } = await fixture.person();
    const token = { id: "tok-1", rights: ["see" as const], servers: ["alpha"] };
    const own = (who: typeof principal) =>
      fixture.gateway.call(
        apiTokens.readOwn,
        {},
        { principal: who, client: { address: "192.0.2.7", userAgent: "ci" } },
      );
    assert.deepEqual(await own({ ...principal, token }), token);
    assert.equal(await faultOf(own(principal)), "token_not_found");
  });

  test("resolves to the account with its grant, on every replica, and records when and from where", async () => {
    const person = await fixture.person();
    const { token, secret } = await create(person, { servers: ["alpha"] });
    const answer = await resolve(secret);
    assert.deepEqual(answer, {
      ...{ state: "live", user_id: person.userId, username: person.principal.username, setup: false },
      expires_at: token.expires_at,
      grant: { id: token.id, rights: ["see", "power"], servers: ["alpha"] },
    });
    const used = async () => {
      const [one] = await list(person);
      return [one?.last_used_at, one?.last_used_ip];
    };
    const isUsed = (at: string, from: string) =>
      until(async () => isDeepStrictEqual(await used(), [at, from]), undefined, `use from ${from}`);
    const first = fixture.now().toISOString();
    await isUsed(first, "192.0.2.8");
    fixture.pass(59_000);
    await resolve(secret);
    assert.deepEqual(await used(), [first, "192.0.2.8"]);
    await resolve(secret, "192.0.2.9");
    await isUsed(fixture.now().toISOString(), "192.0.2.9");
  });

  test("is expired at its end, unknown when it was never made, and setup of staff is told", async () => {
    const person = await fixture.person({ role: "admin" });
    const { secret } = await create(person, { expires_in_days: 1 });
    const answer = await resolve(secret);
    assert.equal(answer.state === "live" && answer.setup, true);
    fixture.pass(day);
    assert.deepEqual(await resolve(secret), { state: "expired" });
    assert.deepEqual(await resolve("svc_pat_nobody"), { state: "unknown" });
  });

  test("needs a fresh proof to be made and none to be revoked", async () => {
    const person = await verified(false);
    assert.equal(await faultOf(create(person)), "reauth_required");
    const proven = await verified();
    const { token, secret } = await create(proven);
    fixture.pass(3_600_000);
    assert.equal(await faultOf(create(proven)), "reauth_required");
    await revoke(proven, token.id);
    assert.deepEqual(await resolve(secret), { state: "revoked" });
  });

  test("an account has at most so many valid ones, whichever replica is asked", async () => {
    const person = await fixture.person();
    const made = await Promise.allSettled(Array.from({ length: 6 }, () => create(person)));
    const refused = made.filter(({ status }) => status === "rejected");
    assert.equal(refused.length, 3);
    for (const { reason } of refused as PromiseRejectedResult[]) assert.equal(reason.fault, "token_limit");
    const [first] = await list(person);
    await revoke(person, first?.id ?? "");
    await create(person);
  });

  test("one of another account cannot be revoked, nor one twice; the gateways hear of a revocation", async () => {
    const [person, other] = [await fixture.person(), await fixture.person()];
    const { token, secret } = await create(person);
    const heard: string[] = [];
    const stop = fixture.gateway.listen(
      "svc.evt.identity.session.revoked.*",
      (subject) => void heard.push(subject),
    );
    assert.equal(await faultOf(revoke(other, token.id)), "token_not_found");
    await revoke(person, token.id);
    assert.equal(await faultOf(revoke(person, token.id)), "token_not_found");
    await until(() => heard.some((subject) => subject.endsWith(sha256(secret))));
    stop();
    assert.deepEqual(await list(person), []);
    await until(async () =>
      (await actionsOf(person)).some(({ action }) => action === "account.token.revoke"),
    );
  });

  test("is not made for longer than the setting allows, with odd servers or without rights", async () => {
    const person = await fixture.person();
    const odd: Partial<NewToken>[] = [
      { expires_in_days: 367 },
      { expires_in_days: 0 },
      { servers: [] },
      { servers: ["Alpha"] },
      { servers: ["../etc"] },
      { servers: ["login"] },
      { rights: [] },
      { rights: ["staff" as never] },
      { name: " " },
      { name: "a\u0000b" },
    ];
    for (const more of odd)
      assert.equal(await faultOf(create(person, more)), "bad_request", JSON.stringify(more));
    assert.deepEqual(await list(person), []);
  });

  const ends: [what: string, end: (person: Person, owner: Person) => Promise<unknown>, state: string][] = [
    [
      "is unknown while its account is disabled, and revoked for good",
      async ({ userId: id }, owner) => {
        await fixture.gateway.call(users.disable, { id, disabled: true }, as(owner));
      },
      "unknown",
    ],
    [
      "is unknown when its account is deleted",
      ({ userId: id }, owner) => fixture.gateway.call(users.remove, { id }, as(owner)),
      "unknown",
    ],
    [
      "is revoked when an operator ends all sessions of the account",
      ({ userId: id }, owner) => fixture.gateway.call(users.revokeSessions, { id }, as(owner)),
      "revoked",
    ],
  ];
  for (const [what, end, state] of ends) {
    test(what, async () => {
      const owner = await fixture.person({
        role: "owner",
        emailVerified: true,
        email: `${Math.random()}@example.org`,
      });
      const person = await fixture.person();
      const { secret } = await create(person);
      await end(person, owner);
      assert.deepEqual(await resolve(secret), { state });
      const [row] = await fixture.database.admin(
        "select revoked_at is not null as ended from identity.api_tokens where token_hash = $1",
        [sha256(secret)],
      );
      assert.equal(row?.["ended"], true);
    });
  }

  test("identity takes none for itself, should one ever reach it", async () => {
    const person = await fixture.person();
    const token = { id: "tok", rights: ["see"] as const };
    const principal = { ...person.principal, token: { ...token, rights: [...token.rights] } };
    const works = [
      faultOf(fixture.gateway.call(apiTokens.create, wanted, { principal })),
      faultOf(fixture.gateway.call(apiTokens.list, {}, { principal })),
    ];
    assert.deepEqual(await Promise.all(works), ["forbidden", "forbidden"]);
  });

  for (const killPoint of ["before the commit", "after the commit"] as KillPoint[]) {
    test(`a process killed ${killPoint} leaves no token that anybody knows`, async () => {
      const person = await fixture.person();
      const child = spawn(process.execPath, [
        ...[program, fixture.database.url, killPoint],
        JSON.stringify(person.principal),
      ]);
      const [, signal] = await once(child, "exit");
      assert.equal(signal, "SIGKILL");
      const tokens = await list(person);
      assert.equal(tokens.length, killPoint === "after the commit" ? 1 : 0);
      for (const { id, last_used_at } of tokens) {
        assert.equal(last_used_at, undefined);
        await revoke(person, id);
      }
    });
  }
});
