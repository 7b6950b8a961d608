import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { accounts, Fault, isFault, links, type Principal, players } from "@svc/proto";
import { type Fixture, type Person, startFixture, stateOf } from "../testing/fixture.ts";
import { linkPlayer } from "./store.ts";

const minute = 60_000;
const velocity: Principal = { kind: "caller", caller: "velocity" };

describe("bind codes", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ set: ["auth.panel_hostname=console.example.org"] });
  });
  after(() => fixture.stop());

  const mint = async (mc_uuid: string, auth_source?: links.AuthSource) => {
    const input = { mc_uuid, ...(auth_source && { auth_source }) };
    return fixture.internal.call(links.mintCode, input, { principal: velocity });
  };
  const codeOf = async (mcUuid: string) => (await mint(mcUuid)).code;
  const bind = async (code: string) => {
    const reply = await fixture.forward(links.bind, { code });
    return { answer: JSON.parse(Buffer.from(reply.body).toString()), session: reply.session };
  };
  const bindRefused = async (code: string) => (await fixture.refused(links.bind, { code })).fault;
  const verify = (person: Person, code: string) =>
    fixture.gateway.call(links.verifyLink, { code }, { principal: person.principal });
  const verifyRefused = async (person: Person, code: string) =>
    (await fixture.refused(links.verifyLink, { code }, { principal: person.principal })).fault;
  const link = (userId: string, mcUuid: string) =>
    fixture.store.db
      .transaction()
      .execute((trx) => linkPlayer(trx, { userId, mcUuid, authSource: "mojang", now: fixture.now() }));
  const isLinked = async (mc_uuid: string) =>
    (await fixture.internal.call(links.linkStatus, { mc_uuid }, { principal: velocity })).linked;
  const linksOf = (mcUuid: string) =>
    fixture.database.admin(
      "select user_id, auth_source::text from identity.account_links where mc_uuid = $1",
      [mcUuid],
    );
  const faultOf = (error: unknown) => (isFault(error) ? error.fault : String(error));

  test("a code has eight characters, lives ten minutes and is returned with the panel's address", async () => {
    const { code, expires_at, panel_url } = await mint(randomUUID());
    assert.match(code, /^[A-HJ-NP-Z2-9]{8}$/);
    assert.equal(Date.parse(expires_at), fixture.now().getTime() + 10 * minute);
    assert.equal(panel_url, "https://console.example.org");
  });

  test("only the hash of a code is stored", async () => {
    const code = await codeOf(randomUUID());
    const rows = await fixture.database.admin("select * from identity.account_link_codes");
    assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(code));
  });

  test("a new player gets an account with role user and a session without a proof", async () => {
    const uuid = randomUUID();
    const { answer, session } = await bind(await codeOf(uuid));
    assert.deepEqual(answer, {
      user_id: answer.user_id,
      linked: true,
      mc_uuid: uuid,
      auth_source: "mojang",
    });
    const [row] = await fixture.database.admin(
      `select u.username, u.role::text, s.door::text, s.reauth_at from identity.users u
       join identity.sessions s on s.user_id = u.id where u.id = $1`,
      [answer.user_id],
    );
    const username = `mc-${uuid.slice(0, 8)}`;
    assert.deepEqual(row, { username, role: "user", door: "bind", reauth_at: null });
    assert.ok(session);
    assert.equal(Date.parse(session.expires_at), fixture.now().getTime() + 12 * 60 * minute);
  });

  test("an account is named as its player is in the game, and after a while of asking by the UUID", async () => {
    const nameOf = async (mc_uuid: string) => {
      const { answer } = await bind(await codeOf(mc_uuid));
      const [row] = await fixture.database.admin("select username from identity.users where id = $1", [
        answer.user_id,
      ]);
      return row?.["username"];
    };
    const [known, namesake, unknown, unanswered] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const asked: string[] = [];
    const named: readonly string[] = [known, namesake];
    fixture.lifecycle.serve(players.readName, async (_context, { mc_uuid }) => {
      asked.push(mc_uuid);
      if (mc_uuid === unanswered) throw new Fault("unavailable");
      return named.includes(mc_uuid) ? { name: "Ada" } : {};
    });
    assert.equal(await nameOf(known), `Ada-${known.slice(0, 4)}`);
    await fixture.database.admin("update identity.users set username = $1 where username = $2", [
      `ADA-${namesake.slice(0, 4)}`,
      `Ada-${known.slice(0, 4)}`,
    ]);
    assert.match(String(await nameOf(namesake)), new RegExp(`^Ada-${namesake.slice(0, 4)}-[0-9a-f]{8}$`));
    assert.equal(await nameOf(unknown), `mc-${unknown.slice(0, 8)}`);
    assert.equal(await nameOf(unanswered), `mc-${unanswered.slice(0, 8)}`);
    await bind(await codeOf(known));
    assert.equal(await bindRefused("AAAAAAAA"), "invalid_code");
    assert.deepEqual(asked, [known, namesake, unknown, unanswered], "only for accounts that are made");
  });

  test("a linked player signs in to the same account again", async () => {
    const uuid = randomUUID();
    const first = await bind(await codeOf(uuid));
    const second = await bind(await codeOf(uuid.toUpperCase().replaceAll("-", "")));
    assert.equal(second.answer.user_id, first.answer.user_id);
    assert.notEqual(second.session?.value, first.session?.value);
  });

  test("a code works once, in any case and with spaces around it", async () => {
    const code = await codeOf(randomUUID());
    await bind(`  ${code.toLowerCase()} `);
    assert.equal(await bindRefused(code), "invalid_code");
  });

  test("a code expires after ten minutes", async () => {
    const code = await codeOf(randomUUID());
    fixture.pass(10 * minute - 1);
    const late = await codeOf(randomUUID());
    await bind(code);
    fixture.pass(10 * minute);
    assert.equal(await bindRefused(late), "invalid_code");
  });

  test("an unknown code, an empty one and lookalike characters are rejected", async () => {
    const code = await codeOf(randomUUID());
    assert.equal(await bindRefused("AAAAAAAA"), "invalid_code");
    assert.equal(await bindRefused("   "), "bad_request");
    assert.equal(await bindRefused(`${code}\u200b`), "invalid_code");
    assert.equal(await bindRefused(code.replace(/./, "\uff21")), "invalid_code");
    await bind(code);
  });

  test("ten parallel redeems of one code have one effect, and the others get invalid_code", async () => {
    const uuid = randomUUID();
    const code = await codeOf(uuid);
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => bind(code)));
    assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
    for (const answer of answers)
      if (answer.status === "rejected") assert.equal(faultOf(answer.reason), "invalid_code");
    assert.equal((await linksOf(uuid)).length, 1);
  });

  test("parallel redeems of different codes of one player converge on one account", async () => {
    const uuid = randomUUID();
    const codes = await Promise.all(Array.from({ length: 5 }, () => codeOf(uuid)));
    const answers = await Promise.all(codes.map(bind));
    assert.equal(new Set(answers.map(({ answer }) => answer.user_id)).size, 1);
    const users = await fixture.database.admin("select 1 from identity.users where username like $1", [
      `mc-${uuid.slice(0, 8)}%`,
    ]);
    assert.equal(users.length, 1);
  });

  test("the five newest codes of a player work, an older one does not", async () => {
    const uuid = randomUUID();
    const codes: string[] = [];
    for (let index = 0; index < 6; index++) {
      codes.push(await codeOf(uuid));
      fixture.pass(1_000);
    }
    assert.equal(await bindRefused(codes[0] as string), "invalid_code");
    for (const code of codes.slice(1)) await bind(code);
  });

  test("staff cannot sign in with a bind code, and it is not spent", async () => {
    const [admin, uuid] = [await fixture.person({ role: "admin" }), randomUUID()];
    await link(admin.userId, uuid);
    const code = await codeOf(uuid);
    const before = await fixture.metric('svc_auth_failures_total{door="bind",reason="staff_account"}');
    assert.equal(await bindRefused(code), "staff_account");
    assert.equal(await bindRefused(code), "staff_account");
    const after = await fixture.metric('svc_auth_failures_total{door="bind",reason="staff_account"}');
    assert.equal(after, before + 2);
  });

  test("a disabled or deleted account is account_retired, and the code is not spent", async () => {
    for (const change of ["disabled = true", "deleted_at = now()"]) {
      const [person, uuid] = [await fixture.person(), randomUUID()];
      await link(person.userId, uuid);
      const code = await codeOf(uuid);
      await fixture.database.admin(`update identity.users set ${change} where id = $1`, [person.userId]);
      assert.equal(await bindRefused(code), "account_retired");
      const back = "update identity.users set disabled = false, deleted_at = null where id = $1";
      await fixture.database.admin(back, [person.userId]);
      assert.equal((await bind(code)).answer.user_id, person.userId);
    }
  });

  test("a player whose link was removed gets a new account", async () => {
    const uuid = randomUUID();
    const first = (await bind(await codeOf(uuid))).answer.user_id;
    await fixture.database.admin("delete from identity.account_links where mc_uuid = $1", [uuid]);
    const second = (await bind(await codeOf(uuid))).answer.user_id;
    assert.notEqual(second, first);
  });

  test("the link has the source of its code, and a version 3 UUID belongs to a third party", async () => {
    const [plain, given, third] = [randomUUID(), randomUUID(), "a3bb189e-8bf9-3888-9912-ace4e6543002"];
    assert.equal((await bind((await mint(given, "thirdparty")).code)).answer.auth_source, "thirdparty");
    assert.equal((await bind((await mint(third)).code)).answer.auth_source, "thirdparty");
    assert.equal((await bind((await mint(plain)).code)).answer.auth_source, "mojang");
    assert.equal((await linksOf(given))[0]?.["auth_source"], "thirdparty");
  });

  test("invalid input of a mint is a bad request with the reason", async () => {
    const raw = (body: Record<string, unknown>) =>
      fixture.internal
        .call(links.mintCode, body as never, { principal: velocity })
        .then(() => "made", faultOf);
    assert.equal(await raw({ mc_uuid: "nobody" }), "bad_request");
    assert.equal(await raw({ mc_uuid: "" }), "bad_request");
    assert.equal(await raw({}), "bad_request");
    assert.equal(await raw({ mc_uuid: randomUUID(), auth_source: "microsoft" }), "bad_request");
    assert.equal(await raw({ mc_uuid: randomUUID(), other: 1 }), "bad_request");
  });

  test("a player stays linked after the redeem, whatever the state of the account", async () => {
    const uuid = randomUUID();
    assert.equal(await isLinked(uuid), false);
    const { answer } = await bind(await codeOf(uuid));
    assert.equal(await isLinked(uuid), true);
    await fixture.database.admin("update identity.users set disabled = true where id = $1", [answer.user_id]);
    assert.equal(await isLinked(uuid), true);
  });

  test("a signed-in person links a player, and a repeat changes nothing", async () => {
    const [person, uuid] = [await fixture.person(), randomUUID()];
    const expected = { linked: true, mc_uuid: uuid, auth_source: "mojang" };
    assert.deepEqual(await verify(person, await codeOf(uuid)), expected);
    const again = await codeOf(uuid);
    assert.deepEqual(await verify(person, again), expected);
    assert.equal(await verifyRefused(person, again), "invalid_code");
    assert.equal((await linksOf(uuid)).length, 1);
  });

  test("a player linked to another account stays linked to it, and the code stays valid", async () => {
    const [one, other, uuid] = [await fixture.person(), await fixture.person(), randomUUID()];
    await link(one.userId, uuid);
    const code = await codeOf(uuid);
    assert.equal(await verifyRefused(other, code), "already_linked");
    assert.equal((await verify(one, code)).linked, true);
  });

  test("of ten accounts with one code one links the player", async () => {
    const uuid = randomUUID();
    const code = await codeOf(uuid);
    const people = await Promise.all(Array.from({ length: 10 }, () => fixture.person()));
    const answers = await Promise.allSettled(people.map((person) => verify(person, code)));
    assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
    for (const answer of answers)
      if (answer.status === "rejected") assert.equal(faultOf(answer.reason), "invalid_code");
  });

  test("a link is a way in: with a verified e-mail address it requires a proof of the last five minutes", async () => {
    const about = { email: `linker-${randomUUID()}@example.org`, emailVerified: true };
    const person = await fixture.person(about);
    fixture.pass(5 * minute);
    const code = await codeOf(randomUUID());
    assert.equal(await verifyRefused(person, code), "reauth_required");
    const fresh = await fixture.person({ ...about, email: `fresh-${randomUUID()}@example.org` });
    assert.equal((await verify(fresh, code)).linked, true);
  });

  test("the instructions name the address in the language of the account", async () => {
    const person = await fixture.person();
    const start = () => fixture.gateway.call(links.startLink, {}, { principal: person.principal });
    const before = await start();
    assert.equal(before.linked, false);
    assert.match(before.instructions, /svc\.localhost.*\/link.*10 minutes/);
    await link(person.userId, randomUUID());
    await fixture.database.admin("update identity.users set language = 'zh' where id = $1", [person.userId]);
    const after = await start();
    assert.equal(after.linked, true);
    assert.match(after.instructions, /输入 \/link.*10 分钟/);
  });

  test("barring a player invalidates their bind codes", async () => {
    const uuid = randomUUID();
    const code = await codeOf(uuid);
    await fixture.internal.call(
      links.reclaimName,
      { squatter_uuid: uuid, username: "Squatter" },
      { principal: velocity },
    );
    assert.equal(await bindRefused(code), "invalid_code");
  });

  test("an unknown bind code is counted, and a session from a bind code resolves to its account", async () => {
    const before = await fixture.metric('svc_auth_failures_total{door="bind",reason="bad_code"}');
    await bindRefused("ZZZZZZZZ");
    assert.equal(await fixture.metric('svc_auth_failures_total{door="bind",reason="bad_code"}'), before + 1);
    const { answer } = await bind(await codeOf(randomUUID()));
    const [session] = await fixture.database.admin(
      "select token_hash from identity.sessions where user_id = $1",
      [answer.user_id],
    );
    const state = await stateOf(fixture, String(session?.["token_hash"]));
    assert.equal(state.state === "live" && state.user_id, answer.user_id);
    assert.deepEqual(await fixture.lifecycle.call(accounts.findLink, { mc_uuid: answer.mc_uuid }), {
      account: { user_id: answer.user_id, role: "user" },
    });
  });

  test("without the database the response is unavailable, and the code still works when it is back", async () => {
    const code = await codeOf(randomUUID());
    await fixture.wire.cut();
    assert.equal(await bindRefused(code), "unavailable");
    await fixture.wire.recover();
    assert.equal((await bind(code)).answer.linked, true);
  });
});
