import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Mesh } from "@svc/mesh";
import { identityHealth, isFault, notices } from "@svc/proto";
import { type Fixture, startFixture } from "../testing/fixture.ts";

describe("mails requested by other services", () => {
  let fixture: Fixture;
  let storage: Mesh;
  before(async () => {
    fixture = await startFixture({ set: ["smtp.max_per_hour=20"] });
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
