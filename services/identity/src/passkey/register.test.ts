import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { passkeys } from "@svc/proto";
import type { Algorithm, ForgedAttestation } from "../testing/authenticator.ts";
import { type Fixture, type Person, startFixture } from "../testing/fixture.ts";
import { createPasskeyPeople, panel } from "../testing/passkeys.ts";

const minute = 60_000;

describe("registering a passkey", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ set: ["identity.passkeys_per_account=3"] });
  });
  after(() => fixture.stop());
  const people = createPasskeyPeople(() => fixture);
  const list = async (person: Person) =>
    (await fixture.gateway.call(passkeys.list, {}, people.as(person))).credentials;
  const beginRefused = async (person: Person) =>
    (await fixture.refused(passkeys.beginRegister, {}, people.as(person))).fault;
  const finishRefused = async (person: Person, attestation: Record<string, unknown>) =>
    (await fixture.refused(passkeys.finishRegister, { attestation }, people.as(person))).fault;

  test("requires user verification, the pinned algorithms and the host of the panel", async () => {
    const person = await fixture.person({ email: "asked@example.org" });
    const { challenge, ...options } = await fixture.gateway.call(
      passkeys.beginRegister,
      {},
      people.as(person),
    );
    assert.match(String(challenge), /^[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(options, {
      rp: { name: "svc.localhost", id: panel.rpId },
      user: {
        id: Buffer.from(person.userId).toString("base64url"),
        name: "asked@example.org",
        displayName: "",
      },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: "public-key" })),
      timeout: 5 * minute,
      attestation: "none",
      excludeCredentials: [],
      authenticatorSelection: {
        ...{ residentKey: "preferred", requireResidentKey: false, userVerification: "required" },
      },
      extensions: { credProps: true },
      hints: [],
    });
  });

  const kinds: [Algorithm, ForgedAttestation["format"]][] = [
    ["ES256", "none"],
    ["ES256", "packed"],
    ["EdDSA", "none"],
    ["EdDSA", "packed"],
  ];
  for (const [algorithm, format = "none"] of kinds) {
    test(`accepts a key of ${algorithm} with the attestation ${format}, which can then sign in`, async () => {
      const email = `${algorithm}-${format}@example.org`.toLowerCase();
      const person = await fixture.person({ email, emailVerified: true });
      const device = people.newDevice(algorithm);
      const attestation = device.register(await people.beginRegister(person), { format });
      await fixture.gateway.call(passkeys.finishRegister, { attestation }, people.as(person));
      assert.equal(await people.pass("login", { ...person, email, device }), undefined);
    });
  }

  test("lists the passkeys to their holder only, newest first, with their last use", async () => {
    const who = await people.holder();
    const second = people.newDevice();
    fixture.pass(1_000);
    const made = await people.register(who, second, "  my phone ");
    assert.deepEqual(made, {
      ...{ id: made.id, name: "my phone", created_at: fixture.now().toISOString(), aaguid: made.aaguid },
    });
    assert.match(made.aaguid ?? "", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    fixture.pass(1_000);
    await people.pass("login", who);
    const [newest, first] = await list(who);
    assert.deepEqual(newest, made);
    assert.deepEqual([first?.name, first?.last_used_at], ["", fixture.now().toISOString()]);
    assert.deepEqual(await list(await fixture.person()), []);
    const { excludeCredentials: bound } = await fixture.gateway.call(
      passkeys.beginRegister,
      {},
      people.as(who),
    );
    assert.deepEqual(
      (bound as { id: string }[]).map(({ id }) => id),
      [second.id, who.device.id],
    );
  });

  test("counts as a proof, is mailed to the verified address, and audited", async () => {
    const email = "told@example.org";
    const person = await fixture.person({ email, emailVerified: true });
    fixture.pass(4 * minute);
    await people.register(person, people.newDevice(), "<key>");
    const status = await fixture.gateway.call(passkeys.reauthStatus, {}, people.as(person));
    assert.equal(status.until, new Date(fixture.now().getTime() + 5 * minute).toISOString());
    const mail = await fixture.smtp.awaitMail(email);
    assert.equal(mail.subject, "A passkey was added to your account");
    await until(async () => {
      const rows = await fixture.database.admin(
        "select 1 from identity.audit_logs where action = 'account.passkey.bound' and actor_user_id = $1",
        [person.userId],
      );
      return rows.length === 1;
    });
  });

  test("requires a fresh proof once the account has a factor, and not before", async () => {
    const person = await fixture.person({ door: "bind", isProof: false });
    await people.register(person, people.newDevice());
    fixture.pass(5 * minute);
    assert.equal(await beginRefused(person), "reauth_required");
    const fresh = await fixture.session(person.userId);
    const again = { ...person, principal: { ...person.principal, session: fresh.hash } };
    await people.register(again, people.newDevice());
  });

  test("a proof that was fresh at the start of the ceremony counts until its end", async () => {
    const who = await people.holder();
    fixture.pass(4 * minute);
    const options = await people.beginRegister(who);
    fixture.pass(4 * minute);
    const attestation = people.newDevice().register(options);
    await fixture.gateway.call(passkeys.finishRegister, { attestation }, people.as(who));
    assert.equal((await list(who)).length, 2);
  });

  test("a registration begun without a proof is rejected when a factor exists at the end", async () => {
    const person = await fixture.person({ door: "bind", isProof: false });
    const attestation = people.newDevice().register(await people.beginRegister(person));
    await fixture.database.admin(
      "update identity.users set email = 'late@example.org', email_verified = true where id = $1",
      [person.userId],
    );
    assert.equal(await finishRefused(person, attestation), "reauth_required");
    assert.deepEqual(await list(person), []);
  });

  test("a session that has ended registers nothing", async () => {
    const person = await fixture.person();
    const attestation = people.newDevice().register(await people.beginRegister(person));
    await fixture.database.admin("update identity.sessions set revoked_at = now() where user_id = $1", [
      person.userId,
    ]);
    assert.equal(await finishRefused(person, attestation), "unauthorized");
    assert.deepEqual(await list(person), []);
  });

  test("an account has a maximum number of passkeys, however many ceremonies begin at once", async () => {
    const person = await fixture.person();
    const begun = await Promise.all(Array.from({ length: 6 }, () => people.beginRegister(person)));
    const ends = await Promise.allSettled(
      begun.map((options) => {
        const attestation = people.newDevice().register(options);
        return fixture.gateway.call(passkeys.finishRegister, { attestation }, people.as(person));
      }),
    );
    assert.equal(ends.filter(({ status }) => status === "fulfilled").length, 3);
    assert.equal((await list(person)).length, 3);
    assert.equal(await beginRefused(person), "passkey_register_failed");
  });

  test("of many ceremonies of one session the ten newest can be finished", async () => {
    const person = await fixture.person();
    const oldest = await people.beginRegister(person);
    let next = oldest;
    for (let times = 0; times < 10; times++) {
      fixture.pass(1);
      next = await people.beginRegister(person);
    }
    const refused = await finishRefused(person, people.newDevice().register(oldest));
    assert.equal(refused, "passkey_register_failed");
    const attestation = people.newDevice().register(next);
    await fixture.gateway.call(passkeys.finishRegister, { attestation }, people.as(person));
  });

  for (const name of ["a\u0000b", "line\nbreak", "\u202egnp.exe", "x".repeat(65)]) {
    test(`a name is rejected: ${JSON.stringify(name.slice(0, 12))}`, async () => {
      const person = await fixture.person();
      const attestation = people.newDevice().register(await people.beginRegister(person));
      const refused = await fixture.refused(
        passkeys.finishRegister,
        { attestation, name },
        people.as(person),
      );
      assert.equal(refused.fault, "bad_request");
    });
  }
});
