import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Mesh } from "@svc/mesh";
import { accounts, identityHealth, isFault, notices } from "@svc/proto";
import { type Fixture, startFixture } from "../testing/fixture.ts";

describe("mails requested by other services", () => {
  let fixture: Fixture;
  let storage: Mesh;
  before(async () => {
    fixture = await startFixture({ set: ["smtp.max_per_hour=28", "auth.panel_hostname=panel.example.org"] });
    storage = await fixture.nats.connect("storage");
  });
  after(async () => {
    await storage.drain(1_000);
    await fixture.stop();
  });
  const facts = { server: "survival", at: "2026-05-04T03:02:01.000Z" };
  const ask = (userId: string, kind: "world-idle-3d" | "backup-corrupt" = "world-idle-3d") =>
    storage.call(notices.sendNotice, { user_id: userId, kind, facts });

  test("the mail has been accepted when the call returns, in the language of the account", async () => {
    const one = await fixture.person({ email: "en@example.org", emailVerified: true });
    assert.deepEqual(await ask(one.userId), { result: "delivered" });
    const english = await fixture.smtp.awaitMail("en@example.org");
    assert.match(english.subject, /survival will be archived in 3 days/);
    assert.match(english.source, /On 2026-05-04 03:02 UTC/);
    const two = await fixture.person({ email: "zh@example.org", emailVerified: true });
    await fixture.database.admin("update identity.users set language = 'zh' where id = $1", [two.userId]);
    await ask(two.userId, "backup-corrupt");
    assert.match((await fixture.smtp.awaitMail("zh@example.org")).source, /lang=(3D)?"zh-Hans"/);
  });

  test("a mail about a crash says why in the language of the account, and leads to the server", async () => {
    const lifecycle = await fixture.nats.connect("lifecycle");
    const person = await fixture.person({ email: "crash@example.org", emailVerified: true });
    const send = (kind: "server-crashed" | "server-crash-loop" | "server-hung", cause: string) =>
      lifecycle.call(notices.sendNotice, { user_id: person.userId, kind, facts: { ...facts, cause } });
    await send("server-crashed", "eula");
    const english = await fixture.smtp.awaitMail("crash@example.org");
    assert.match(english.subject, /survival crashed and is stopped/);
    assert.match(english.source, /agreed to the game/);
    assert.match(english.source, /panel\.example\.org\/servers\/survival/);
    await fixture.database.admin("update identity.users set language = 'zh' where id = $1", [person.userId]);
    // A cause of a newer build.
    await send("server-crash-loop", "constructor");
    assert.match((await fixture.smtp.awaitMail("crash@example.org", 2)).source, /lang=(3D)?"zh-Hans"/);
    await lifecycle.drain(1_000);
  });

  test("a mail about a webhook that was switched off names it, and leads to the server", async () => {
    const person = await fixture.person({ email: "hook@example.org", emailVerified: true });
    const watchdog = await fixture.nats.connect("ops-watchdog");
    const about = { server: "survival", label: "Chat", host: "chat.example.net" };
    await watchdog.call(notices.sendNotice, { user_id: person.userId, kind: "webhook-gone", facts: about });
    const { subject, source } = await fixture.smtp.awaitMail("hook@example.org");
    assert.match(subject, /A webhook of your server survival was switched off/);
    assert.match(source, /chat\.example\.net/);
    assert.match(source, /panel\.example\.org\/servers\/survival/);
    await watchdog.drain(1_000);
  });

  test("without a verified address nothing is sent, and the call succeeds", async () => {
    const person = await fixture.person({ email: "open@example.org" });
    assert.deepEqual(await ask(person.userId), { result: "suppressed", reason: "no verified address" });
    assert.equal((await ask("nobody")).result, "suppressed");
  });

  test("the watchdog learns the verified addresses of enabled owners, with their language", async () => {
    const owner = (email: string) => fixture.person({ email, emailVerified: true, role: "owner" });
    const [chinese, disabled] = await Promise.all([owner("chief@example.org"), owner("left@example.org")]);
    await owner("boss@example.org");
    await fixture.person({ email: "unproven@example.org", role: "owner" });
    await fixture.person({ email: "helper@example.org", emailVerified: true, role: "admin" });
    const { admin } = fixture.database;
    await admin("update identity.users set language = 'zh' where id = $1", [chinese.userId]);
    await admin("update identity.users set disabled = true where id = $1", [disabled.userId]);
    const watchdog = await fixture.nats.connect("ops-watchdog");
    const { recipients } = await watchdog.call(notices.listStaffRecipients, {});
    await watchdog.drain(1_000);
    assert.deepEqual(recipients, [
      { address: "boss@example.org", language: "en" },
      { address: "chief@example.org", language: "zh" },
    ]);
  });

  test("an invitation is mailed to any address alike, in its account's language or the inviter's, with shares of its own", async () => {
    const lifecycle = await fixture.nats.connect("lifecycle");
    const inviter = await fixture.person({ email: "inviter@example.org", emailVerified: true });
    const known = await fixture.person({ email: "Known@example.org", emailVerified: true });
    const { admin } = fixture.database;
    await admin("update identity.users set language = 'zh' where id = $1", [known.userId]);
    const about = { server: "survival", expires_at: "2026-05-04T03:02:01.000Z" };
    const invite = (email: string, user_id = inviter.userId) =>
      lifecycle.call(notices.sendInvitation, { ...about, email, user_id });
    assert.deepEqual(await invite("known@example.org"), { result: "delivered" });
    assert.deepEqual(await invite("unknown@example.org"), { result: "delivered" });
    assert.match((await fixture.smtp.awaitMail("known@example.org")).source, /lang=(3D)?"zh-Hans"/);
    const english = await fixture.smtp.awaitMail("unknown@example.org");
    assert.match(english.subject, /shares the server survival with you/);
    assert.match(english.source, /\/invitations/);
    assert.match(english.source, /2026-05-04 03:02 UTC/);
    assert.deepEqual(await invite("nobody@example.org", "usr-gone"), { result: "suppressed" });
    await lifecycle.drain(1_000);
  });

  test("accounts that can be used are described, with an address only if it is verified", async () => {
    const lifecycle = await fixture.nats.connect("lifecycle");
    const verified = await fixture.person({ email: "good@example.org", emailVerified: true });
    const open = await fixture.person({ email: "typed@example.org" });
    const disabled = await fixture.person({ email: "off@example.org", emailVerified: true });
    await fixture.database.admin("update identity.users set disabled = true where id = $1", [
      disabled.userId,
    ]);
    const user_ids = [verified.userId, open.userId, disabled.userId, "usr-gone"];
    const { accounts: described } = await lifecycle.call(accounts.describeAccounts, { user_ids });
    await lifecycle.drain(1_000);
    assert.deepEqual(Object.keys(described).sort(), [verified.userId, open.userId].sort());
    assert.deepEqual(
      [described[verified.userId]?.email, described[open.userId]?.email],
      ["good@example.org", undefined],
    );
  });

  test("the mail budget of the installation applies to them too", async () => {
    const person = await fixture.person({ email: "many@example.org", emailVerified: true });
    const asked = await Promise.all(
      Array.from({ length: 8 }, () =>
        ask(person.userId).then(
          ({ result }) => result as string,
          (error: unknown) => (isFault(error) ? error.fault : "no fault"),
        ),
      ),
    );
    assert.ok(asked.includes("mail_rate_limited"), asked.join(" "));
    assert.ok(asked.every((outcome) => outcome === "delivered" || outcome === "mail_rate_limited"));
    const watchdog = await fixture.nats.connect("ops-watchdog");
    const health = await watchdog.call(identityHealth.readIdentityHealth, {});
    await watchdog.drain(1_000);
    assert.deepEqual(health, { mails_left: 0, mails_waiting: 0 });
  });
});
