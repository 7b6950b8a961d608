import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { until } from "@svc/mesh/testing";
import { type Client, cliLogins, isFault, users } from "@svc/proto";
import { sha256 } from "../secret.ts";
import { type Fixture, type NewPerson, type Person, startFixture, stateOf } from "../testing/fixture.ts";
import type { KilledStep } from "../testing/killed-cli-login.ts";
import type { KillPoint } from "../testing/killed-process.ts";

const program = testProgram(fileURLToPath(new URL("../testing/killed-cli-login.ts", import.meta.url)));
const minute = 60_000;
const anonymous = { kind: "anonymous" } as const;
let number = 0;
/** Each command line is in its own network. */
const newClient = (more: Partial<Client> = {}): Client => ({
  address: `10.${++number >> 8}.${number & 255}.1`,
  userAgent: "svc/0.1.0 (nas)",
  ...more,
});
type Decision = "approve" | "refuse";

describe("a CLI login", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
    await fixture.addReplica();
  });
  after(() => fixture.stop());

  const start = async (client = newClient()) => {
    const started = await fixture.gateway.call(cliLogins.start, {}, { principal: anonymous, client });
    return { ...started, client };
  };
  const as = ({ principal }: Person, client: Client = { address: "192.0.2.7", userAgent: "browser" }) => ({
    principal,
    client: { ...client, host: principal.staff ? ("operator" as const) : ("player" as const) },
  });
  const read = (code: string, person: Person) => fixture.gateway.call(cliLogins.read, { code }, as(person));
  const decide = (code: string, person: Person, decision: Decision = "approve") =>
    fixture.gateway.call(cliLogins.decide, { code, decision }, as(person));
  const faultOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(isFault(error), String(error));
    return error.fault;
  };
  type Started = { secret: string; client: Client };
  const finish = async ({ secret, client }: Started) => {
    const reply = await fixture.forward(cliLogins.finish, { secret }, { principal: anonymous, client });
    const body = JSON.parse(Buffer.from(reply.body).toString()) as Record<string, unknown>;
    return { body, session: reply.session };
  };
  const hashOf = ({ session }: Awaited<ReturnType<typeof finish>>) => {
    assert.ok(session);
    return sha256(session.value);
  };
  const verified = (about: NewPerson = {}) =>
    fixture.person({ email: `cli${++number}@example.org`, emailVerified: true, ...about });
  const set = (text: string, { userId }: Person) =>
    fixture.database.admin(`update identity.users set ${text} where id = $1`, [userId]);
  const actions = async ({ userId }: Person) =>
    (
      await fixture.database.admin(
        "select action, payload from identity.audit_logs where actor_user_id = $1 order by id",
        [userId],
      )
    ).map(({ action }) => String(action));

  test("signs the command line in as the person who typed its code", async () => {
    const person = await verified();
    const login = await start();
    assert.deepEqual((await finish(login)).body, { state: "pending" });
    assert.deepEqual(await read(login.code, person), {
      ...{ client_ip: login.client.address, user_agent: "svc/0.1.0 (nas)", same_network: false },
      created_at: fixture.now().toISOString(),
      expires_at: new Date(fixture.now().getTime() + 10 * minute).toISOString(),
    });
    assert.deepEqual(await decide(` ${login.code.toLowerCase()} `, person), { decision: "approve" });
    const done = await finish(login);
    assert.deepEqual(done.body, { state: "signed_in", user_id: person.userId, role: "user" });
    const state = await stateOf(fixture, hashOf(done));
    assert.equal(state.state === "live" && state.user_id, person.userId);
    assert.equal(await faultOf(finish(login)), "cli_login_invalid");
    await until(async () => {
      const seen = await actions(person);
      return seen.includes("auth.cli_login.approve") && seen.includes("auth.cli_login.login");
    });
  });

  test("stores neither the secret nor the code", async () => {
    const { secret, code } = await start();
    const rows = await fixture.database.admin("select l::text as text from identity.cli_logins l");
    assert.ok(rows.every(({ text }) => !String(text).includes(secret) && !String(text).includes(code)));
  });

  test("reports when the command line is in the network of the reader", async () => {
    const login = await start({ address: "192.0.2.7", userAgent: "svc" });
    assert.equal((await read(login.code, await verified())).same_network, true);
  });

  test("that was refused is reported once and can no longer be approved", async () => {
    const person = await verified();
    const login = await start();
    await decide(login.code, person, "refuse");
    assert.equal(await faultOf(decide(login.code, person)), "cli_login_not_found");
    assert.equal(await faultOf(finish(login)), "cli_login_refused");
    assert.equal(await faultOf(finish(login)), "cli_login_invalid");
    await until(async () => (await actions(person)).includes("auth.cli_login.refuse"));
  });

  test("gets a session with no more rights than the one that approved it, and not counted as a proof", async () => {
    const setDoor = (value: string) =>
      fixture.database.admin(
        `insert into identity.platform_settings (key, value) values ('local_auth_enabled', $1::jsonb)
         on conflict (key) do update set value = excluded.value`,
        [value],
      );
    await setDoor("true");
    const person = await verified({ door: "password" });
    const expiresAt = new Date(fixture.now().getTime() + 20 * minute);
    await fixture.database.admin("update identity.sessions set expires_at = $2 where token_hash = $1", [
      person.session,
      expiresAt,
    ]);
    const login = await start();
    await decide(login.code, person);
    const hash = hashOf(await finish(login));
    const [row] = await fixture.database.admin("select * from identity.sessions where token_hash = $1", [
      hash,
    ]);
    const { door, reauth_at, host, user_agent, expires_at } = row ?? {};
    assert.deepEqual(
      { door, reauth_at, host, user_agent, expires_at },
      {
        door: "password",
        reauth_at: null,
        host: "player",
        user_agent: "svc/0.1.0 (nas)",
        expires_at: expiresAt,
      },
    );
    const late = await start();
    await decide(late.code, person);
    await setDoor("false");
    assert.equal((await stateOf(fixture, hash)).state, "local_auth_off");
    assert.equal(await faultOf(finish(late)), "cli_login_invalid");
  });

  test("belongs to its host: its code and secret are unknown on the other one", async () => {
    const [player, staff] = [await verified(), await verified({ role: "admin" })];
    const operator = await start(newClient({ host: "operator" }));
    assert.equal(await faultOf(read(operator.code, player)), "cli_login_not_found");
    assert.equal(await faultOf(decide(operator.code, player)), "cli_login_not_found");
    assert.equal(await faultOf(decide((await start()).code, staff)), "cli_login_not_found");
    await decide(operator.code, staff);
    const elsewhere = { ...operator, client: newClient() };
    assert.equal(await faultOf(finish(elsewhere)), "cli_login_invalid");
    const state = await stateOf(fixture, hashOf(await finish(operator)));
    assert.equal(state.state === "live" && state.host, "operator");
  });

  test("is neither shown nor approved or refused without a fresh proof", async () => {
    const person = await verified({ isProof: false });
    const login = await start();
    assert.equal(await faultOf(read(login.code, person)), "reauth_required");
    assert.equal(await faultOf(decide(login.code, person)), "reauth_required");
    assert.equal(await faultOf(decide(login.code, person, "refuse")), "reauth_required");
    assert.deepEqual((await finish(login)).body, { state: "pending" });
  });

  const voided: [what: string, end: (person: Person) => Promise<unknown>][] = [
    ["was disabled", (person) => set("disabled = true", person)],
    ["was deleted", (person) => set("deleted_at = now()", person)],
    ["became staff", (person) => set("role = 'admin'", person)],
    [
      "signed out",
      ({ session }) =>
        fixture.database.admin("update identity.sessions set revoked_at = now() where token_hash = $1", [
          session,
        ]),
    ],
  ];
  for (const [what, end] of voided)
    test(`of an approver who ${what} since then is rejected, and stays rejected`, async () => {
      const person = await verified();
      const login = await start();
      await decide(login.code, person);
      await end(person);
      assert.equal(await faultOf(finish(login)), "cli_login_invalid");
      await set("disabled = false, deleted_at = null, role = 'user'", person);
      await fixture.database.admin("update identity.sessions set revoked_at = null where token_hash = $1", [
        person.session,
      ]);
      assert.equal(await faultOf(finish(login)), "cli_login_invalid");
      await until(async () => (await actions(person)).includes("auth.cli_login.failed"));
    });

  test("ends with the account: disabling the approver ends the command line's session", async () => {
    const [person, owner] = [await verified(), await verified({ role: "owner" })];
    const login = await start();
    await decide(login.code, person);
    const hash = hashOf(await finish(login));
    await fixture.gateway.call(users.disable, { id: person.userId, disabled: true }, as(owner));
    assert.equal((await stateOf(fixture, hash)).state, "unknown");
  });

  test("expires after ten minutes, approved or not", async () => {
    const person = await verified();
    const [waiting, approved] = [await start(), await start()];
    await decide(approved.code, person);
    fixture.pass(10 * minute);
    const again = await verified();
    assert.equal(await faultOf(read(waiting.code, again)), "cli_login_not_found");
    assert.equal(await faultOf(decide(waiting.code, again)), "cli_login_not_found");
    for (const login of [waiting, approved]) assert.equal(await faultOf(finish(login)), "cli_login_invalid");
  });

  test("of parallel approvals and finishes one succeeds, on two replicas", async () => {
    const people = await Promise.all(Array.from({ length: 6 }, () => verified()));
    const login = await start();
    const approvals = await Promise.allSettled(people.map((person) => decide(login.code, person)));
    const winner = people[approvals.findIndex(({ status }) => status === "fulfilled")];
    assert.equal(approvals.filter(({ status }) => status === "fulfilled").length, 1);
    const finishes = await Promise.allSettled(Array.from({ length: 8 }, () => finish(login)));
    const done = finishes.flatMap((one) => (one.status === "fulfilled" ? [one.value.body["user_id"]] : []));
    assert.deepEqual(done, [winner?.userId]);
  });

  test("at most ten of one network wait at once, over all replicas; a refused one no longer counts once it was collected", async () => {
    const client = newClient({ address: "2001:db8:77::1" });
    const neighbour = newClient({ address: "2001:db8:77:9::2" });
    const started = await Promise.allSettled(
      Array.from({ length: 14 }, (_, index) => start(index % 2 ? client : neighbour)),
    );
    const logins = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    assert.equal(logins.length, 10);
    assert.equal(await faultOf(start(client)), "too_many_challenges");
    assert.ok((await start()).code);
    const [first] = logins;
    assert.ok(first);
    await decide(first.code, await verified(), "refuse");
    await faultOf(finish(first));
    assert.ok((await start(client)).code);
  });

  test("limits guesses of codes per account: a burst of twenty, then one in three seconds, counted in the audit log", async () => {
    const person = await verified();
    const login = await start();
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        faultOf(index % 2 ? read("AAAAAAAA", person) : decide("AAAAAAAB", person)),
      ),
    );
    assert.equal(outcomes.filter((fault) => fault === "cli_login_not_found").length, 20);
    assert.equal(outcomes.filter((fault) => fault === "rate_limited").length, 10);
    assert.equal(await faultOf(read(login.code, person)), "rate_limited");
    await decide(login.code, await verified());
    await until(async () => (await actions(person)).includes("auth.cli_login.failed"));
  });

  test("with an unknown secret is rejected, whatever its format", async () => {
    for (const secret of ["x", "\u0000", "' or 1=1 --", "A".repeat(128)])
      assert.equal(await faultOf(finish({ secret, client: newClient() })), "cli_login_invalid");
  });

  const runKilled = async (killPoint: KillPoint, input: KilledStep) => {
    const args = [program, fixture.database.url, killPoint, JSON.stringify(input)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    const [, signal] = await once(child, "exit");
    assert.equal(signal, "SIGKILL");
  };
  // The killed processes use the real clock.
  test("of a killed process leaves a decision and a session with their audit entries, or neither", async () => {
    const person = await verified({ role: "user" });
    const { code, secret, client } = await start();
    await fixture.database.admin(
      "update identity.cli_logins set expires_at = expires_at + interval '1 hour'",
    );
    await fixture.database.admin("update identity.sessions set reauth_at = now() where token_hash = $1", [
      person.session,
    ]);
    const { principal } = person;
    const step = (name: KilledStep["step"]): KilledStep => ({ step: name, principal, code, secret });
    const sessions = async () =>
      (await fixture.database.admin("select 1 from identity.sessions where user_id = $1", [person.userId]))
        .length;
    await runKilled("before the commit", step("decide"));
    assert.deepEqual((await finish({ secret, client })).body, { state: "pending" });
    await runKilled("after the commit", step("decide"));
    await until(async () => (await actions(person)).includes("auth.cli_login.approve"));
    await runKilled("before the commit", step("finish"));
    assert.equal(await sessions(), 1);
    await runKilled("after the commit", step("finish"));
    assert.equal(await sessions(), 2);
    assert.equal(await faultOf(finish({ secret, client })), "cli_login_invalid");
    await until(async () => (await actions(person)).includes("auth.cli_login.login"));
    const seen = await actions(person);
    assert.deepEqual(seen, ["auth.cli_login.approve", "auth.cli_login.login"]);
  });
});
