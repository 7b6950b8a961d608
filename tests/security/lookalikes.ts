// E-mail addresses and names that look like, or fold to, somebody else's.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { adminHost, type GatewayFixture } from "./gateway-fixture.ts";
import { assertRefused } from "./raw-request.ts";

const victim = "kim.victim@example.org";

/** None of these is the victim's mailbox. */
const strangers = [
  "\u212aim.victim@example.org",
  "k\u0130m.victim@example.org",
  "k\u0131m.victim@example.org",
  "k\u0456m.victim@example.org",
  "\uff4bim.victim@example.org",
  "ki\u0301m.victim@example.org",
  "kim.victim@ex\u0430mple.org",
  "kim.victim@example.org.",
  "kim.victim+a@example.org",
  "kimvictim@example.org",
];
/** None of these is an address at all. */
const malformed = [
  "kim.victim@example.org, eve@example.net",
  "kim.victim@example.org;eve@example.net",
  "<kim.victim@example.org>",
  '"kim.victim"@example.org',
  "kim.victim@example.org\u0000",
  "kim.victim\u00a0@example.org",
  "kim.victim@example.org\r\nRcpt To: eve@example.net",
  "kim.victim@exam\nple.org",
  "kim.victim@eve@example.org",
];

export function checkLookalikes(gateways: () => GatewayFixture): void {
  const post = (path: string, json: unknown) =>
    gateways().visit({ method: "POST", path: `/api/v1/auth/${path}`, json });

  test("an address in another case is the same mailbox, and a look-alike is a different one", async () => {
    const { identity } = gateways();
    await identity.person({ email: victim, emailVerified: true });
    assert.equal((await post("email/start", { email: ` ${victim.toUpperCase()} ` })).status, 202);
    await identity.smtp.awaitMail(victim);
    const code = identity.smtp.codeTo(victim);
    for (const email of strangers.slice(1)) {
      const reply = await post("email/verify", { email, code });
      assert.ok(reply.status === 400 && reply.headers["set-cookie"] === undefined, `${email}: ${reply.text}`);
    }
    assert.equal((await post("email/verify", { email: victim, code })).status, 200);
  });

  test("whatever spelling is entered, a code is mailed only to the verified mailbox, once a minute", async () => {
    const { identity } = gateways();
    identity.pass(60_000);
    const before = identity.smtp.mails.length;
    for (const email of [victim, ...strangers]) {
      const reply = await post("email/start", { email });
      assert.ok(reply.status === 202 || reply.status === 400, `${email}: ${reply.text}`);
    }
    const mark = "mark-of-lookalikes@example.org";
    await identity.person({ email: mark, emailVerified: true });
    await post("email/start", { email: mark });
    await identity.smtp.awaitMail(mark);
    assert.deepEqual(
      identity.smtp.mails
        .slice(before)
        .flatMap(({ to }) => to)
        .sort(),
      [victim, mark].sort(),
    );
  });

  test("several addresses or a line break are 400 at every operation that mails", async () => {
    const wanted = { status: 400, code: "bad_request", says: /email/ };
    for (const path of ["email/start", "op-login/start"])
      for (const email of malformed)
        assertRefused(await post(path, { email }), wanted, `${path} ${JSON.stringify(email)}`);
  });

  test("an operator login is approved only under the exact name of its account", async () => {
    const { identity, asProxy } = gateways();
    const email = "kim.staff@example.org";
    const { userId, principal } = await identity.person({ role: "admin", email, emailVerified: true });
    const approver_uuid = randomUUID();
    await identity.store.db
      .insertInto("account_links")
      .values({ user_id: userId, mc_uuid: approver_uuid })
      .execute();
    const { request_id } = JSON.parse((await post("op-login/start", { email })).text) as {
      request_id: string;
    };
    await identity.smtp.awaitMail(email);
    const path = `/api/v1/internal/op-login/${request_id}/approve`;
    const { username } = principal;
    for (const name of [
      username.replace("a", "\u0430"),
      `${username}\u200b`,
      `${username}\u0000`,
      `${username}%`,
    ]) {
      const reply = await asProxy({ method: "POST", path, json: { approver_uuid, username: name } });
      assert.ok(reply.status >= 400 && reply.status < 500, `${JSON.stringify(name)}: ${reply.text}`);
    }
    const right = await asProxy({ method: "POST", path, json: { approver_uuid, username } });
    assert.equal(right.status, 200, right.text);
  });

  test("a user name is plain ASCII, and one that differs only in case is taken", async () => {
    const owner = await gateways().identity.person({
      role: "owner",
      email: "owner-of-names@example.org",
      emailVerified: true,
    });
    const create = (username: string) =>
      gateways().visit({
        ...{ method: "POST", path: "/api/v1/users", json: { username, role: "user" } },
        ...{ cookie: `svc_session=${owner.cookie}`, headers: { host: adminHost } },
      });
    assert.equal((await create("Kim")).status, 201);
    for (const name of ["kim", "KIM", " kIm "])
      assertRefused(await create(name), { status: 409, code: "username_taken", says: /./ }, name);
    for (const name of [
      "\u212aim",
      "k\u0456m",
      "kim\u200b",
      "ki m",
      "kim\n",
      "kim\u0000x",
      "../kim",
      "k\u0131m",
      "",
    ])
      if (name.trim() !== "kim")
        assertRefused(await create(name), { status: 400, code: "bad_request", says: /username/ }, name);
  });

  test("a player's name is plain ASCII before it reaches the blacklist", async () => {
    const { asProxy } = gateways();
    for (const username of ["N\u043etch", "Notch\u0000", "No tch", "Notch\n", "N".repeat(1_000), "", "a/b"]) {
      const reply = await asProxy({
        method: "POST",
        path: "/api/v1/internal/player/reclaim",
        json: { squatter_uuid: randomUUID(), username, data_ref: "x" },
      });
      assert.ok(reply.status === 400, `${JSON.stringify(username)}: ${reply.status} ${reply.text}`);
    }
  });
}
