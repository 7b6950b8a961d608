import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { isFault, passkeys, signIn } from "@svc/proto";
import { createSemaphore } from "@svc/service/semaphore";
import type { RequestOptions } from "../testing/authenticator.ts";
import { type Fixture, startFixture, stateOf } from "../testing/fixture.ts";
import { createPasskeyPeople, panel, stranger } from "../testing/passkeys.ts";

const minute = 60_000;
const from = (address: string) => ({
  principal: { kind: "anonymous" } as const,
  client: { address, userAgent: "browser" },
});

describe("signing in with a passkey", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());
  const people = createPasskeyPeople(() => fixture);

  for (const role of ["user", "admin", "owner"] as const) {
    for (const ceremony of ["login", "discoverable"] as const) {
      test(`creates a session for the role ${role} at ${ceremony}, which counts as a proof`, async () => {
        const who = await people.holder({ role });
        const { options, loginId } = await people.begin(ceremony, who);
        const assertion = who.device.assert(options) as unknown as Record<string, unknown>;
        const reply =
          ceremony === "login"
            ? await fixture.forward(passkeys.finishLogin, { email: who.email, assertion }, stranger())
            : await fixture.forward(
                passkeys.finishDiscoverable,
                { login_id: loginId, assertion },
                stranger(),
              );
        assert.deepEqual(JSON.parse(Buffer.from(reply.body).toString()), { user_id: who.userId, role });
        const [row] = await fixture.database.admin(
          `select door::text, reauth_at, expires_at, token_hash from identity.sessions
           where user_id = $1 and door = 'passkey'`,
          [who.userId],
        );
        assert.deepEqual([row?.["door"], row?.["reauth_at"]], ["passkey", fixture.now()]);
        assert.equal(
          reply.session?.expires_at,
          new Date(fixture.now().getTime() + 720 * minute).toISOString(),
        );
        assert.equal((await stateOf(fixture, String(row?.["token_hash"]))).state, "live");
        await until(async () => {
          const entries = await fixture.database.admin(
            "select 1 from identity.audit_logs where action = 'auth.passkey.login' and actor_user_id = $1",
            [who.userId],
          );
          return entries.length === 1;
        });
      });
    }
  }

  test("by address requests the passkeys of the address, and reveals nothing else about them", async () => {
    const who = await people.holder();
    const [second, third] = [people.newDevice(), people.newDevice()];
    await people.register(who, second, "my phone");
    await people.register(who, third);
    const { challenge, ...options } = await fixture.gateway.call(
      passkeys.beginLogin,
      { email: who.email.toUpperCase() },
      stranger(),
    );
    assert.match(String(challenge), /^[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(options, {
      rpId: panel.rpId,
      timeout: 5 * minute,
      userVerification: "required",
      allowCredentials: [who.device.id, second.id, third.id].sort().map((id) => ({ id, type: "public-key" })),
    });
  });

  test("without an address accepts any passkey", async () => {
    const { publicKey } = await fixture.gateway.call(passkeys.beginDiscoverable, {}, stranger());
    const { challenge, ...options } = publicKey;
    assert.match(String(challenge), /^[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(options, {
      ...{ rpId: panel.rpId, timeout: 5 * minute, userVerification: "required", allowCredentials: [] },
    });
  });

  test("an unknown address, an unverified one and one without a passkey get the same response", async () => {
    const bare = await fixture.person({ email: "bare@example.org", emailVerified: true });
    const unverified = await fixture.person({ email: "unverified@example.org" });
    await people.register(unverified, people.newDevice());
    const gone = await people.holder();
    await fixture.database.admin("update identity.users set disabled = true where id = $1", [gone.userId]);
    assert.ok(bare);
    const answers: unknown[] = [];
    const emails = ["bare@example.org", "unverified@example.org", gone.email, "nobody@example.org"];
    for (const email of emails) {
      const { methods } = await fixture.gateway.call(signIn.options, { email }, stranger());
      assert.ok(!methods.includes("passkey"), email);
      const error: unknown = await fixture.gateway
        .call(passkeys.beginLogin, { email }, stranger())
        .catch((reason: unknown) => reason);
      if (!isFault(error)) throw new Error(`${email} was accepted`);
      answers.push({ fault: error.fault, message: error.message });
    }
    assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1, JSON.stringify(answers));
    assert.equal((answers[0] as { fault: string }).fault, "no_passkey");
  });

  test("all ceremonies begun in parallel can be finished", async () => {
    const who = await people.holder();
    const begun = await Promise.all(Array.from({ length: 5 }, () => people.begin("login", who)));
    for (const { options } of begun) {
      const assertion = who.device.assert(options);
      assert.equal(await people.finish("login", who, { loginId: "", assertion }), undefined);
    }
  });

  test("does not work with a passkey of another address", async () => {
    const [who, other] = [await people.holder(), await people.holder()];
    const { options } = await people.begin("login", who);
    const assertion = who.device.assert(options);
    const end = await people.finish("login", { ...who, email: other.email }, { loginId: "", assertion });
    assert.equal(end, "passkey_login_invalid");
  });

  test("does not answer the challenge of another address", async () => {
    const [who, other] = [await people.holder(), await people.holder()];
    const { options } = await people.begin("login", other);
    const assertion = who.device.assert(options);
    assert.equal(await people.finish("login", who, { loginId: "", assertion }), "passkey_login_invalid");
  });

  test("works while mailed codes are locked", async () => {
    const who = await people.holder();
    await fixture.store.db
      .insertInto("otp_failure_windows")
      .values({ user_id: who.userId, purpose: "any", window_start: fixture.now(), failures: 10 })
      .execute();
    assert.equal(await people.pass("login", who), undefined);
  });
});

describe("unfinished anonymous ceremonies", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ set: ["identity.passkey_challenges=100"] });
    await fixture.addReplica();
  });
  after(() => fixture.stop());
  const people = createPasskeyPeople(() => fixture);

  const discover = (address: string) => fixture.gateway.call(passkeys.beginDiscoverable, {}, from(address));
  const outcomes = async (begins: Promise<unknown>[]) => {
    const ends = await Promise.allSettled(begins);
    const faults = ends.map((end) => (end.status === "fulfilled" ? "begun" : (end.reason.fault as string)));
    return {
      begun: faults.filter((fault) => fault === "begun").length,
      tooMany: faults.filter((fault) => fault === "too_many_challenges").length,
    };
  };
  // More at once would wait for connections of the database for longer than a request may take on a slow machine.
  const atOnce = createSemaphore(16);
  const many = (count: number, begin: (index: number) => Promise<unknown>) =>
    outcomes(Array.from({ length: count }, (_, index) => atOnce.run(() => begin(index))));

  test("are at most 32 per network at the discoverable login, over all replicas", async () => {
    fixture.pass(5 * minute);
    assert.deepEqual(await many(50, () => discover("192.0.2.1")), { begun: 32, tooMany: 18 });
    assert.deepEqual(await many(3, () => discover("192.0.2.2")), { begun: 3, tooMany: 0 });
    fixture.pass(5 * minute);
    assert.deepEqual(await many(1, () => discover("192.0.2.1")), { begun: 1, tooMany: 0 });
  });

  test("are at most 32 per network at the login by address, over all addresses", async () => {
    const [one, two] = [await people.holder(), await people.holder()];
    const begin = (index: number) => {
      const { email } = index % 2 === 0 ? one : two;
      return fixture.gateway.call(passkeys.beginLogin, { email }, from("192.0.2.9"));
    };
    assert.deepEqual(await many(50, begin), { begun: 32, tooMany: 18 });
    // The other door has its own limit.
    assert.deepEqual(await many(1, () => discover("192.0.2.9")), { begun: 1, tooMany: 0 });
    assert.equal(await people.pass("login", one), undefined, "others are not affected");
  });

  test("count for a whole /48 of IPv6", async () => {
    fixture.pass(5 * minute);
    const inOne = (index: number) => discover(`2001:db8:7:${index.toString(16)}::1`);
    assert.deepEqual(await many(40, inOne), { begun: 32, tooMany: 8 });
    assert.deepEqual(await many(1, () => discover("2001:db8:8::1")), { begun: 1, tooMany: 0 });
  });

  test("no longer count when they are finished", async () => {
    fixture.pass(5 * minute);
    const who = await people.holder();
    const begun = await Promise.all(
      Array.from({ length: 32 }, () => atOnce.run(() => discover("192.0.2.40"))),
    );
    assert.deepEqual(await many(1, () => discover("192.0.2.40")), { begun: 0, tooMany: 1 });
    const [first] = begun;
    const assertion = who.device.assert(first?.publicKey as RequestOptions);
    const loginId = first?.login_id ?? "";
    assert.equal(await people.finish("discoverable", who, { loginId, assertion }), undefined);
    assert.deepEqual(await many(2, () => discover("192.0.2.40")), { begun: 1, tooMany: 1 });
  });

  test("are limited in total over all networks", async () => {
    fixture.pass(5 * minute);
    assert.deepEqual(await many(130, (index) => discover(`198.51.100.${index}`)), {
      begun: 100,
      tooMany: 30,
    });
    const who = await people.holder();
    assert.equal(await people.pass("login", who), undefined, "the login by address still works");
  });
});

test("without the database a login is unavailable rather than rejected", async () => {
  const fixture = await startFixture();
  try {
    const people = createPasskeyPeople(() => fixture);
    const who = await people.holder();
    const { options, loginId } = await people.begin("discoverable", who);
    const assertion = who.device.assert(options) as unknown as Record<string, unknown>;
    await fixture.wire.cut();
    const faults = [
      await fixture.refused(passkeys.beginLogin, { email: who.email }, stranger()),
      await fixture.refused(passkeys.beginDiscoverable, {}, stranger()),
      await fixture.refused(passkeys.finishLogin, { email: who.email, assertion }, stranger()),
      await fixture.refused(passkeys.finishDiscoverable, { login_id: loginId, assertion }, stranger()),
      await fixture.refused(passkeys.reauthStatus, {}, { principal: who.principal }),
    ].map(({ fault }) => fault);
    assert.deepEqual(faults, Array(5).fill("unavailable"));
  } finally {
    await fixture.stop();
  }
});
