// Whatever a hostile browser, page, device or network makes of a ceremony, nobody gets in and nothing is bound.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { passkeys } from "@svc/proto";
import { type AttestationLie, bent, flag, type Lie } from "../testing/authenticator.ts";
import { type Bed, startBed } from "../testing/bed.ts";
import { head } from "../testing/cbor.ts";
import { type Ceremony, createPasskeyPeople, type Holder } from "../testing/passkeys.ts";

const ceremonies: Ceremony[] = ["login", "discoverable", "reauth"];
const minute = 60_000;
const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const deepList = Buffer.concat([Buffer.alloc(40_000, 0x81), Buffer.from([0])]);
const endlessMap = Buffer.concat([head(5, 0xffff_ffff), Buffer.from([0])]);
const endlessBytes = head(2, 0xffff_ffff);

function changed(response: Record<string, unknown>, field: string, change: (bytes: Buffer) => Buffer) {
  const bytes = change(Buffer.from(String(response[field]), "base64url"));
  return { ...response, [field]: bytes.toString("base64url") };
}

/** What no honest browser answers, in an attestation and in an assertion alike. */
const lies: Record<string, Lie> = {
  "the page of another site": { origin: "https://console.svc.localhost.example.org" },
  "the same host over http": { origin: "http://console.svc.localhost" },
  "another port of the host": { origin: "https://console.svc.localhost:8443" },
  "a host below it that is not ours": { origin: "https://evil.console.svc.localhost" },
  "a page of no origin": { origin: "null" },
  "another relying party": { rpId: "console.example.org" },
  "the relying party of the domain above": { rpId: "svc.localhost" },
  "a frame in another site": { crossOrigin: true, topOrigin: "https://example.org" },
  "a frame in a site that is not named": { crossOrigin: true },
  "a challenge that was never given": { challenge: Buffer.alloc(32, 7).toString("base64url") },
  "no challenge": { challenge: "" },
};

describe("a registration that is not what it seems", () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed();
  });
  after(() => bed.stop());
  const people = createPasskeyPeople(() => bed);

  const cases: Record<string, AttestationLie> = {
    ...lies,
    "an assertion's type": { type: "webauthn.get" },
    "nobody present": { flags: flag.verified | flag.attested },
    "nobody verified": { flags: flag.present | flag.attested },
    "no credential in it": { flags: flag.present | flag.verified },
    "backed up though it cannot be": { flags: flag.present | flag.verified | flag.attested | flag.backedUp },
    "self-attested by another key": { format: "packed", isForged: true },
    "self-attested for another algorithm": {
      ...{ format: "packed", statement: { alg: -257, sig: Buffer.alloc(64) } },
    },
    "a statement where there is none": { format: "none", statement: { sig: Buffer.alloc(8) } },
    "an algorithm that was not offered": { toldAlgorithm: -48 },
    "an algorithm that is not the key's": { toldAlgorithm: -8 },
    "vouched for by a chain of certificates": {
      ...{ format: "packed", statement: { alg: -7, sig: Buffer.alloc(64), x5c: [Buffer.alloc(64)] } },
    },
    "a format of another maker": { format: "tpm" },
    "one more format of another maker": { format: "apple", statement: { x5c: [Buffer.alloc(64)] } },
    "an empty object": { object: Buffer.alloc(0) },
    "bytes that are no CBOR": { object: Buffer.from("not cbor") },
    "lists in lists in lists": { object: deepList },
    "a map that claims to be endless": { object: endlessMap },
    "bytes that claim to be endless": { object: endlessBytes },
    "an object cut short": {
      tamper: (response) => changed(response, "attestationObject", (bytes) => bytes.subarray(0, 90)),
    },
    "client data that are no JSON": {
      tamper: (response) => ({ ...response, clientDataJSON: Buffer.from("{").toString("base64url") }),
    },
    "client data that are a list": {
      tamper: (response) => ({ ...response, clientDataJSON: text(["webauthn.create"]) }),
    },
    "client data that are null": {
      tamper: (response) => ({ ...response, clientDataJSON: text(null) }),
    },
    "no client data": { tamper: ({ clientDataJSON: _gone, ...rest }) => rest },
    "a number for client data": { tamper: (response) => ({ ...response, clientDataJSON: 7 }) },
    "far too much of it": {
      tamper: (response) => ({ ...response, attestationObject: "A".repeat(200_000) }),
    },
  };
  for (const [what, lie] of Object.entries(cases)) {
    test(`is refused: ${what}`, async () => {
      const person = await bed.person();
      const device = people.newDevice();
      const attestation = device.register(await people.beginRegister(person), lie);
      const answer = await bed.refused(passkeys.finishRegister, { attestation }, people.as(person));
      assert.equal(answer.fault, "passkey_register_failed");
      const { credentials } = await bed.gateway.call(passkeys.list, {}, people.as(person));
      assert.deepEqual(credentials, []);
    });
  }

  for (const attestation of [
    {},
    { id: 1 },
    { response: null },
    { id: "a", rawId: "a", type: "public-key", response: [] },
  ]) {
    test(`is refused: ${JSON.stringify(attestation)}`, async () => {
      const person = await bed.person();
      const answer = await bed.refused(passkeys.finishRegister, { attestation }, people.as(person));
      assert.equal(answer.fault, "passkey_register_failed");
    });
  }

  test("is refused in another session, by another person, late, and a second time", async () => {
    const person = await bed.person();
    const other = await bed.person();
    const elsewhere = await bed.session(person.userId);
    const refused = async (who: typeof person, attestation: Record<string, unknown>) =>
      (await bed.refused(passkeys.finishRegister, { attestation }, people.as(who))).fault;
    const made = async () => people.newDevice().register(await people.beginRegister(person));
    assert.equal(await refused(other, await made()), "passkey_register_failed");
    const there = { ...person, principal: { ...person.principal, session: elsewhere.hash } };
    assert.equal(await refused(there, await made()), "passkey_register_failed");
    const late = await made();
    bed.pass(5 * minute);
    assert.equal(await refused(person, late), "passkey_register_failed");
    const fine = await made();
    await bed.gateway.call(passkeys.finishRegister, { attestation: fine }, people.as(person));
    assert.equal(await refused(person, fine), "passkey_register_failed");
  });

  test("a passkey of another account is not bound twice", async () => {
    const first = await people.holder();
    const second = await bed.person();
    const attestation = first.device.register(await people.beginRegister(second));
    const answer = await bed.refused(passkeys.finishRegister, { attestation }, people.as(second));
    assert.equal(answer.fault, "passkey_taken");
    const userHandle = Buffer.from(first.userId).toString("base64url");
    assert.equal(await people.pass("login", first, { userHandle }), undefined);
  });

  test("of ten parallel answers to one challenge, one binds", async () => {
    const person = await bed.person();
    const options = await people.beginRegister(person);
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        bed.gateway.call(
          passkeys.finishRegister,
          { attestation: people.newDevice().register(options) },
          people.as(person),
        ),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
    const { credentials } = await bed.gateway.call(passkeys.list, {}, people.as(person));
    assert.equal(credentials.length, 1);
  });
});

describe("an assertion that is not what it seems", () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed();
  });
  after(() => bed.stop());
  const people = createPasskeyPeople(() => bed);

  const cases: Record<string, Lie> = {
    ...lies,
    "an attestation's type": { type: "webauthn.create" },
    "nobody present": { flags: flag.verified },
    "nobody verified": { flags: flag.present },
    "the signature of another key": { isForged: true },
    "another account in its handle": { userHandle: Buffer.from("somebody").toString("base64url") },
    "a passkey that became one that can be copied": { flags: flag.present | flag.verified | flag.eligible },
    "a bent signature": {
      tamper: (response) => ({ ...response, signature: bent(response["signature"]) }),
    },
    "an empty signature": { tamper: (response) => ({ ...response, signature: "AA" }) },
    "bent authenticator data": {
      tamper: (response) => ({ ...response, authenticatorData: bent(response["authenticatorData"], 46) }),
    },
    "authenticator data cut short": { tamper: (response) => ({ ...response, authenticatorData: "AAAA" }) },
    "authenticator data with more behind it": {
      tamper: (response) =>
        changed(response, "authenticatorData", (bytes) => Buffer.concat([bytes, deepList])),
    },
    "bent client data": {
      tamper: (response) => changed(response, "clientDataJSON", (bytes) => Buffer.from(`${bytes} `)),
    },
    "client data that are no JSON": { tamper: (response) => ({ ...response, clientDataJSON: "A" }) },
    "client data that are null": { tamper: (response) => ({ ...response, clientDataJSON: text(null) }) },
    "a challenge that is an object": {
      tamper: (response) => ({ ...response, clientDataJSON: text({ challenge: {} }) }),
    },
    "a challenge with a zero byte": {
      tamper: (response) => ({ ...response, clientDataJSON: text({ challenge: "\u0000" }) }),
    },
    "no authenticator data": { tamper: ({ authenticatorData: _gone, ...rest }) => rest },
    "far too much of it": { tamper: (response) => ({ ...response, signature: "A".repeat(200_000) }) },
  };

  const marks = async (who: Holder) => {
    const [row] = await bed.database.admin(
      `select (select count(*)::int from identity.sessions where user_id = $1) as sessions,
        (select reauth_at from identity.sessions where token_hash = $2) as reauth_at,
        (select last_used_at from identity.webauthn_credentials where user_id = $1) as last_used_at`,
      [who.userId, who.session],
    );
    return row;
  };

  for (const ceremony of ceremonies) {
    for (const [what, lie] of Object.entries(cases)) {
      test(`gets nobody in at ${ceremony}: ${what}`, async () => {
        const who = await people.holder();
        const before = await marks(who);
        bed.pass(1_000);
        assert.equal(await people.pass(ceremony, who, lie), "passkey_login_invalid");
        assert.deepEqual(await marks(who), before);
        // A refusal takes nothing away from the rightful holder.
        assert.equal(await people.pass(ceremony, who), undefined);
      });
    }
    for (const assertion of [{}, { id: 1 }, { id: "a", rawId: "a", type: "public-key", response: null }]) {
      test(`gets nobody in at ${ceremony}: ${JSON.stringify(assertion)}`, async () => {
        const who = await people.holder();
        const { loginId } = await people.begin(ceremony, who);
        assert.equal(await people.finish(ceremony, who, { loginId, assertion }), "passkey_login_invalid");
      });
    }

    test(`gets in once at ${ceremony}, of ten at the same time`, async () => {
      const who = await people.holder();
      const { options, loginId } = await people.begin(ceremony, who);
      const assertion = who.device.assert(options);
      const ends = await Promise.all(
        Array.from({ length: 10 }, () => people.finish(ceremony, who, { loginId, assertion })),
      );
      assert.equal(ends.filter((end) => end === undefined).length, 1);
      assert.equal(await people.finish(ceremony, who, { loginId, assertion }), "passkey_login_invalid");
    });

    test(`has one try at ${ceremony}: a wrong answer spends the challenge`, async () => {
      const who = await people.holder();
      const { options, loginId } = await people.begin(ceremony, who);
      const wrong = who.device.assert(options, { isForged: true });
      assert.equal(
        await people.finish(ceremony, who, { loginId, assertion: wrong }),
        "passkey_login_invalid",
      );
      const right = who.device.assert(options);
      assert.equal(
        await people.finish(ceremony, who, { loginId, assertion: right }),
        "passkey_login_invalid",
      );
    });

    test(`comes within five minutes at ${ceremony}`, async () => {
      const who = await people.holder();
      const { options, loginId } = await people.begin(ceremony, who);
      bed.pass(5 * minute);
      const assertion = who.device.assert(options);
      assert.equal(await people.finish(ceremony, who, { loginId, assertion }), "passkey_login_invalid");
    });

    test(`cannot answer at ${ceremony} what another ceremony asked`, async () => {
      for (const other of ceremonies.filter((one) => one !== ceremony)) {
        const who = await people.holder();
        const [asked, here] = [await people.begin(other, who), await people.begin(ceremony, who)];
        const assertion = who.device.assert(asked.options);
        const end = await people.finish(ceremony, who, { loginId: here.loginId, assertion });
        assert.equal(end, "passkey_login_invalid", other);
      }
      const who = await people.holder();
      const { challenge } = await people.beginRegister(who);
      const { options, loginId } = await people.begin(ceremony, who);
      const assertion = who.device.assert({ ...options, challenge });
      assert.equal(await people.finish(ceremony, who, { loginId, assertion }), "passkey_login_invalid");
    });

    test(`of a stranger's passkey does not open an account at ${ceremony}`, async () => {
      const [who, thief] = [await people.holder(), await people.holder()];
      const handle = Buffer.from(who.userId).toString("base64url");
      const { options, loginId } = await people.begin(ceremony, who);
      const assertion = thief.device.assert(options, { userHandle: handle });
      assert.equal(await people.finish(ceremony, who, { loginId, assertion }), "passkey_login_invalid");
      const again = await people.begin(ceremony, who);
      const masked = { ...thief.device.assert(again.options), id: who.device.id, rawId: who.device.id };
      const end = await people.finish(ceremony, who, { loginId: again.loginId, assertion: masked });
      assert.equal(end, "passkey_login_invalid");
    });

    test(`of a copy of the device is noticed at ${ceremony} by its counter`, async () => {
      const who = await people.holder();
      assert.equal(await people.pass(ceremony, who, { counter: 9 }), undefined);
      for (const counter of [9, 8, 0])
        assert.equal(await people.pass(ceremony, who, { counter }), "passkey_login_invalid", String(counter));
      assert.equal(await people.pass(ceremony, who, { counter: 10 }), undefined);
    });

    test(`of a device that does not count is taken every time at ${ceremony}`, async () => {
      const who = await people.holder({ isCounting: false, algorithm: "EdDSA" });
      for (let uses = 0; uses < 3; uses++) assert.equal(await people.pass(ceremony, who), undefined);
    });

    test(`of a passkey that was bound unverified gets nobody in at ${ceremony}`, async () => {
      const who = await people.holder();
      await bed.database.admin(
        "update identity.webauthn_credentials set user_verified = false where user_id = $1",
        [who.userId],
      );
      assert.equal(await people.pass(ceremony, who), "passkey_login_invalid");
    });
  }

  test("asked of another account or in another session proves nothing", async () => {
    const [who, other] = [await people.holder(), await people.holder()];
    const { options } = await people.begin("reauth", other);
    const assertion = who.device.assert(options);
    assert.equal(await people.finish("reauth", who, { loginId: "", assertion }), "passkey_login_invalid");
    const elsewhere = await bed.session(who.userId, { door: "bind" });
    const there = { ...who, principal: { ...who.principal, session: elsewhere.hash } };
    const mine = who.device.assert((await people.begin("reauth", who)).options);
    assert.equal(
      await people.finish("reauth", there, { loginId: "", assertion: mine }),
      "passkey_login_invalid",
    );
  });

  test("given with the handle of another login gets nobody in", async () => {
    const who = await people.holder();
    const [one, other] = [await people.begin("discoverable", who), await people.begin("discoverable", who)];
    const assertion = who.device.assert(one.options);
    const end = await people.finish("discoverable", who, { loginId: other.loginId, assertion });
    assert.equal(end, "passkey_login_invalid");
  });

  test("without a user handle names nobody at the discoverable door", async () => {
    const who = await people.holder();
    assert.equal(await people.pass("discoverable", who, { userHandle: undefined }), "passkey_login_invalid");
    assert.equal(await people.pass("login", who, { userHandle: undefined }), undefined);
  });

  test("of an account that was disabled or deleted gets nobody in", async () => {
    for (const set of ["disabled = true", "deleted_at = now()"]) {
      for (const ceremony of ["login", "discoverable"] as const) {
        const who = await people.holder();
        const { options, loginId } = await people.begin(ceremony, who);
        await bed.database.admin(`update identity.users set ${set} where id = $1`, [who.userId]);
        const assertion = who.device.assert(options);
        assert.equal(
          await people.finish(ceremony, who, { loginId, assertion }),
          "passkey_login_invalid",
          set,
        );
      }
    }
  });

  test("is audited with what was wrong and whose passkey it was, as far as that is known", async () => {
    const who = await people.holder();
    await people.pass("login", who, { isForged: true });
    await people.pass("discoverable", who, { userHandle: Buffer.from("nobody").toString("base64url") });
    const entries = () =>
      bed.database.admin(
        `select payload ->> 'reason' as reason, actor_user_id from identity.audit_logs
         where action = 'auth.passkey.failed' order by id desc limit 2`,
      );
    await until(async () => (await entries())[0]?.["reason"] === "no_account");
    assert.deepEqual(await entries(), [
      { reason: "no_account", actor_user_id: null },
      { reason: "bad_assertion", actor_user_id: who.userId },
    ]);
  });
});
