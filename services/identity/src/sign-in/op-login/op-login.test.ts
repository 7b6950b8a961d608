import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { type AnyContract, type InputOf, isFault, signIn } from "@svc/proto";
import { type Fixture, type NewPerson, type Person, startFixture } from "../../testing/fixture.ts";

const minute = 60_000;
const anonymous = { kind: "anonymous" } as const;
const velocity = { kind: "caller", caller: "velocity" } as const;
let number = 0;
const newAddress = () => `staff${++number}@example.org`;
const wrong = (code: string) => (code === "000000" ? "000001" : "000000");
const client = { address: "203.0.113.9", userAgent: "browser" };

describe("an operator login", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({
      set: ["smtp.max_per_hour=1000000", "identity.mail_recipient_burst=1000"],
    });
  });
  after(() => fixture.stop());

  const start = (email: string) =>
    fixture.gateway.call(signIn.startOpLogin, { email }, { principal: anonymous, client });
  const finish = (request_id: string, code: string) =>
    fixture.gateway.forward(signIn.finishOpLogin, { request_id, code }, { principal: anonymous, client });
  const finishRefused = async (request_id: string, code: string) =>
    (await fixture.refused(signIn.finishOpLogin, { request_id, code }, { principal: anonymous, client }))
      .fault;
  const isApproved = async (id: string) =>
    (await fixture.gateway.call(signIn.readOpLoginStatus, { id }, { principal: anonymous })).approved;
  const pendingIds = async () =>
    (await fixture.internal.call(signIn.listPendingOpLogins, {}, { principal: velocity })).pending.map(
      ({ request_id }) => request_id,
    );
  const inGame = <C extends AnyContract>(contract: C, input: InputOf<C>) =>
    fixture.internal.call(contract, input, { principal: velocity });
  const inGameRefused = async <C extends AnyContract>(contract: C, input: InputOf<C>) => {
    const error: unknown = await inGame(contract, input).catch((reason: unknown) => reason);
    assert.ok(isFault(error), String(error));
    return error.fault;
  };
  /** An account with a linked player. */
  const linked = async (about: NewPerson = {}) => {
    const email = newAddress();
    const person = await fixture.person({ role: "admin", email, emailVerified: true, ...about });
    const uuid = randomUUID();
    await fixture.store.db
      .insertInto("account_links")
      .values({ user_id: person.userId, mc_uuid: uuid })
      .execute();
    return { email, person, uuid };
  };
  /** A waiting request, and the code that was mailed for it. */
  const waiting = async (about: NewPerson = {}) => {
    const staff = await linked(about);
    const { request_id: id } = await start(staff.email);
    await fixture.smtp.awaitMail(staff.email);
    return { ...staff, id, code: fixture.smtp.codeTo(staff.email) };
  };
  const nameOf = ({ principal }: Person) => principal.username;
  const approve = (id: string, { uuid, person }: { uuid: string; person: Person }) =>
    inGame(signIn.approveOpLogin, { id, approver_uuid: uuid, username: nameOf(person) });
  const change = (set: string, { userId }: Person) =>
    fixture.database.admin(`update identity.users set ${set} where id = $1`, [userId]);
  const actions = async (userId: string) =>
    (
      await fixture.database.admin("select * from identity.audit_logs where actor_user_id = $1", [userId])
    ).map(({ action, source }) => `${String(action)} ${String(source)}`);

  test("signs staff in with the mailed code once a player linked to staff has approved it", async () => {
    const staff = await waiting({ role: "owner" });
    assert.ok((await pendingIds()).includes(staff.id));
    assert.equal(await isApproved(staff.id), false);
    const shown = await inGame(signIn.readOpLogin, { id: staff.id, approver_uuid: staff.uuid });
    assert.deepEqual(shown, {
      ...{ request_id: staff.id, username: nameOf(staff.person), email: staff.email },
      ...{ client_ip: "203.0.113.9", user_agent: "browser" },
      created_at: fixture.now().toISOString(),
      expires_at: new Date(fixture.now().getTime() + 10 * minute).toISOString(),
    });
    const username = nameOf(staff.person);
    const approved = await inGame(signIn.approveOpLogin, {
      ...{ id: staff.id, approver_uuid: staff.uuid, username: ` ${username.toUpperCase()} ` },
    });
    assert.deepEqual(approved, { approved: true, username, email: staff.email });
    assert.equal(await isApproved(staff.id), true);
    assert.ok(!(await pendingIds()).includes(staff.id));
    const reply = await finish(staff.id, staff.code);
    assert.deepEqual(JSON.parse(Buffer.from(reply.body).toString()), {
      user_id: staff.person.userId,
      role: "owner",
    });
    assert.ok(reply.session);
    assert.equal(await isApproved(staff.id), false);
    assert.equal(await finishRefused(staff.id, staff.code), "op_login_invalid");
    await until(async () => {
      const seen = await actions(staff.person.userId);
      return (
        seen.includes("auth.op_login.approve internal:velocity") &&
        seen.includes("auth.op_login.login external")
      );
    });
  });

  test("counts as a proof", async () => {
    const staff = await waiting();
    await approve(staff.id, staff);
    await finish(staff.id, staff.code);
    const rows = await fixture.database.admin(
      "select reauth_at from identity.sessions where user_id = $1 and door = 'op_login'",
      [staff.person.userId],
    );
    assert.deepEqual(rows, [{ reauth_at: fixture.now() }]);
  });

  test("checks no code before the approval, so that codes can be neither guessed nor locked", async () => {
    const staff = await waiting();
    for (let tries = 0; tries < 12; tries++)
      assert.equal(await finishRefused(staff.id, wrong(staff.code)), "op_login_invalid");
    assert.equal(await finishRefused(staff.id, staff.code), "op_login_invalid");
    await approve(staff.id, staff);
    assert.ok((await finish(staff.id, staff.code)).session);
  });

  test("an address without a staff account gets a handle of the same shape that is never valid", async () => {
    const player = await linked({ role: "user" });
    const answers = [
      await start(player.email),
      await start(newAddress()),
      await start((await linked()).email),
    ];
    const shapes = answers.map(({ request_id, expires_at }) => [request_id.length, expires_at]);
    assert.deepEqual(shapes[0], shapes[2]);
    assert.deepEqual(shapes[1], shapes[2]);
    assert.match(answers[0]?.request_id ?? "", /^[0-9a-f]{32}$/);
    await until(async () => (await pendingIds()).includes(answers[2]?.request_id ?? ""));
    for (const { request_id: id } of answers.slice(0, 2)) {
      assert.equal(await isApproved(id), false);
      assert.equal(await finishRefused(id, "123456"), "op_login_invalid");
      const asked = { id, approver_uuid: (await linked()).uuid };
      assert.equal(await inGameRefused(signIn.readOpLogin, asked), "op_login_not_found");
    }
    await until(async () => (await actions(player.person.userId)).includes("auth.op_login.failed external"));
    assert.ok(!fixture.smtp.mails.some(({ to }) => to === player.email));
  });

  test("a second start within the minute creates a request that accepts the code already mailed", async () => {
    const staff = await waiting();
    fixture.pass(30_000);
    const second = await start(staff.email);
    await until(async () => (await pendingIds()).includes(second.request_id));
    await approve(second.request_id, staff);
    assert.ok((await finish(second.request_id, staff.code)).session);
    assert.equal(fixture.smtp.mails.filter(({ to }) => to === staff.email).length, 1);
  });

  test("an approver must be linked to a live staff account", async () => {
    const staff = await waiting();
    const player = await linked({ role: "user" });
    const disabled = await linked();
    await change("disabled = true", disabled.person);
    for (const uuid of [player.uuid, disabled.uuid, randomUUID()]) {
      const asked = { id: staff.id, approver_uuid: uuid };
      assert.equal(await inGameRefused(signIn.readOpLogin, asked), "not_admin");
      const username = nameOf(staff.person);
      assert.equal(await inGameRefused(signIn.approveOpLogin, { ...asked, username }), "not_admin");
    }
    assert.equal(await isApproved(staff.id), false);
  });

  test("another member of staff may approve", async () => {
    const staff = await waiting();
    const other = await linked();
    await inGame(signIn.approveOpLogin, {
      ...{ id: staff.id, approver_uuid: other.uuid, username: nameOf(staff.person) },
    });
    assert.ok((await finish(staff.id, staff.code)).session);
  });

  test("a mismatched name is rejected and audited, and the request stays pending", async () => {
    const staff = await waiting();
    const typed = { id: staff.id, approver_uuid: staff.uuid, username: "somebody" };
    assert.equal(await inGameRefused(signIn.approveOpLogin, typed), "op_login_mismatch");
    assert.ok((await pendingIds()).includes(staff.id));
    await until(async () =>
      (await actions(staff.person.userId)).includes("auth.op_login.mismatch internal:velocity"),
    );
  });

  test("an approved, a finished and an expired request cannot be approved", async () => {
    const staff = await waiting();
    await approve(staff.id, staff);
    await assert.rejects(approve(staff.id, staff), /operator login does not exist/);
    const late = await waiting();
    fixture.pass(10 * minute);
    await assert.rejects(approve(late.id, late), /operator login does not exist/);
    assert.ok(!(await pendingIds()).includes(late.id));
    assert.equal(await finishRefused(staff.id, staff.code), "op_login_invalid");
  });

  test("of parallel finishes one succeeds", async () => {
    const staff = await waiting();
    await approve(staff.id, staff);
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => finish(staff.id, staff.code)));
    assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
  });

  test("after five wrong codes an approved request rejects the correct code too", async () => {
    const staff = await waiting();
    await approve(staff.id, staff);
    for (let tries = 0; tries < 5; tries++) await finishRefused(staff.id, wrong(staff.code));
    fixture.pass(minute);
    await start(staff.email);
    await fixture.smtp.awaitMail(staff.email, 2);
    assert.equal(await finishRefused(staff.id, fixture.smtp.codeTo(staff.email)), "op_login_invalid");
  });

  test("an account whose codes are locked still signs in this way", async () => {
    const staff = await linked();
    await fixture.store.db
      .insertInto("otp_failure_windows")
      .values({ user_id: staff.person.userId, purpose: "any", window_start: fixture.now(), failures: 10 })
      .execute();
    const { request_id: id } = await start(staff.email);
    await fixture.smtp.awaitMail(staff.email);
    await approve(id, staff);
    assert.ok((await finish(id, fixture.smtp.codeTo(staff.email))).session);
  });

  test("a user who is no longer staff after the approval is rejected, and the code is spent", async () => {
    const staff = await waiting();
    await approve(staff.id, staff);
    await change("role = 'user'", staff.person);
    assert.equal(await finishRefused(staff.id, staff.code), "staff_account");
    await change("role = 'admin'", staff.person);
    assert.equal(await finishRefused(staff.id, staff.code), "op_login_invalid");
  });

  test("an account that has been disabled, or has another address now, is rejected", async () => {
    for (const set of ["disabled = true", "email = 'elsewhere@example.org'", "email_verified = false"]) {
      const staff = await waiting();
      await approve(staff.id, staff);
      await change(set, staff.person);
      assert.equal(await finishRefused(staff.id, staff.code), "op_login_invalid", set);
      await change("disabled = false, email_verified = false, email = null", staff.person);
    }
  });

  test("a code of the player sign-in is invalid here, and vice versa", async () => {
    const staff = await waiting();
    await fixture.gateway.call(signIn.startEmail, { email: staff.email }, { principal: anonymous, client });
    await fixture.smtp.awaitMail(staff.email, 2);
    const signInCode = fixture.smtp.codeTo(staff.email);
    assert.notEqual(signInCode, staff.code);
    await approve(staff.id, staff);
    assert.equal(await finishRefused(staff.id, signInCode), "op_login_invalid");
    const other = { email: staff.email, code: staff.code };
    assert.equal(
      (await fixture.refused(signIn.verifyEmail, other, { principal: anonymous })).fault,
      "invalid_code",
    );
  });
});
