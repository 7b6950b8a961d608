// Whatever an attacker does with an assertion, nobody else signs in, and the rightful holder still can.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { until } from "@svc/mesh/testing";
import { bent, type Forgery, flag } from "../testing/authenticator.ts";
import { type Fixture, startFixture } from "../testing/fixture.ts";
import { changed, deepList, forgeries, text } from "../testing/forged-responses.ts";
import { type Ceremony, createPasskeyPeople, type Holder } from "../testing/passkeys.ts";

const ceremonies: Ceremony[] = ["login", "discoverable", "reauth"];
const minute = 60_000;

describe("a hostile assertion", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());
  const people = createPasskeyPeople(() => fixture);

  const cases: Record<string, Forgery> = {
    ...forgeries,
    "the type of an attestation": { type: "webauthn.create" },
    "nobody present": { flags: flag.verified },
    "nobody verified": { flags: flag.present },
    "the signature of another key": { isForged: true },
    "the user handle of another account": { userHandle: Buffer.from("somebody").toString("base64url") },
    "a passkey whose backup eligibility changed": { flags: flag.present | flag.verified | flag.eligible },
    "an altered signature": {
      tamper: (response) => ({ ...response, signature: bent(response["signature"]) }),
    },
    "an empty signature": { tamper: (response) => ({ ...response, signature: "AA" }) },
    "altered authenticator data": {
      tamper: (response) => ({ ...response, authenticatorData: bent(response["authenticatorData"], 46) }),
    },
    "truncated authenticator data": { tamper: (response) => ({ ...response, authenticatorData: "AAAA" }) },
    "authenticator data with trailing bytes": {
      tamper: (response) =>
        changed(response, "authenticatorData", (bytes) => Buffer.concat([bytes, deepList])),
    },
    "altered client data": {
      tamper: (response) => changed(response, "clientDataJSON", (bytes) => Buffer.from(`${bytes} `)),
    },
    "client data that is not JSON": { tamper: (response) => ({ ...response, clientDataJSON: "A" }) },
    "client data that is null": { tamper: (response) => ({ ...response, clientDataJSON: text(null) }) },
    "a challenge that is an object": {
      tamper: (response) => ({ ...response, clientDataJSON: text({ challenge: {} }) }),
    },
    "a challenge with a zero byte": {
      tamper: (response) => ({ ...response, clientDataJSON: text({ challenge: "\u0000" }) }),
    },
    "no authenticator data": { tamper: ({ authenticatorData: _gone, ...rest }) => rest },
    "an oversized response": { tamper: (response) => ({ ...response, signature: "A".repeat(200_000) }) },
  };

  const marks = async (who: Holder) => {
    const [row] = await fixture.database.admin(
      `select (select count(*)::int from identity.sessions where user_id = $1) as sessions,
        (select reauth_at from identity.sessions where token_hash = $2) as reauth_at,
        (select last_used_at from identity.webauthn_credentials where user_id = $1) as last_used_at`,
      [who.userId, who.session],
    );
    return row;
  };

  for (const [place, ceremony] of ceremonies.entries()) {
    // Each forgery in one of the ceremonies, with `--whole` in all of them.
    const received = Object.entries(cases).filter((_, n) => isWhole || n % ceremonies.length === place);
    for (const [what, forgery] of received) {
      test(`is rejected at ${ceremony}: ${what}`, async () => {
        const who = await people.holder();
        const before = await marks(who);
        fixture.pass(1_000);
        assert.equal(await people.pass(ceremony, who, forgery), "passkey_login_invalid");
        assert.deepEqual(await marks(who), before);
        // A rejection does not affect the rightful holder.
        assert.equal(await people.pass(ceremony, who), undefined);
      });
    }
    for (const assertion of [{}, { id: 1 }, { id: "a", rawId: "a", type: "public-key", response: null }]) {
      test(`is rejected at ${ceremony}: ${JSON.stringify(assertion)}`, async () => {
        const who = await people.holder();
        const { loginId } = await people.begin(ceremony, who);
        assert.equal(await people.finish(ceremony, who, { loginId, assertion }), "passkey_login_invalid");
      });
    }

    test(`is accepted once at ${ceremony}, of ten at the same time`, async () => {
      const who = await people.holder();
      const { options, loginId } = await people.begin(ceremony, who);
      const assertion = who.device.assert(options);
      const ends = await Promise.all(
        Array.from({ length: 10 }, () => people.finish(ceremony, who, { loginId, assertion })),
      );
      assert.equal(ends.filter((end) => end === undefined).length, 1);
      assert.equal(await people.finish(ceremony, who, { loginId, assertion }), "passkey_login_invalid");
    });

    test(`has one attempt at ${ceremony}: a wrong response consumes the challenge`, async () => {
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

    test(`expires after five minutes at ${ceremony}`, async () => {
      const who = await people.holder();
      const { options, loginId } = await people.begin(ceremony, who);
      fixture.pass(5 * minute);
      const assertion = who.device.assert(options);
      assert.equal(await people.finish(ceremony, who, { loginId, assertion }), "passkey_login_invalid");
    });

    test(`cannot answer the challenge of another ceremony at ${ceremony}`, async () => {
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

    test(`of another account's passkey is rejected at ${ceremony}`, async () => {
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

    test(`of a cloned device is detected at ${ceremony} by its counter`, async () => {
      const who = await people.holder();
      assert.equal(await people.pass(ceremony, who, { counter: 9 }), undefined);
      for (const counter of [9, 8, 0])
        assert.equal(await people.pass(ceremony, who, { counter }), "passkey_login_invalid", String(counter));
      assert.equal(await people.pass(ceremony, who, { counter: 10 }), undefined);
    });

    test(`of a device without a counter is accepted every time at ${ceremony}`, async () => {
      const who = await people.holder({ isCounting: false, algorithm: "EdDSA" });
      for (let uses = 0; uses < 3; uses++) assert.equal(await people.pass(ceremony, who), undefined);
    });

    test(`of a passkey that was bound unverified is rejected at ${ceremony}`, async () => {
      const who = await people.holder();
      await fixture.database.admin(
        "update identity.webauthn_credentials set user_verified = false where user_id = $1",
        [who.userId],
      );
      assert.equal(await people.pass(ceremony, who), "passkey_login_invalid");
    });
  }

  test("requested for another account or in another session proves nothing", async () => {
    const [who, other] = [await people.holder(), await people.holder()];
    const { options } = await people.begin("reauth", other);
    const assertion = who.device.assert(options);
    assert.equal(await people.finish("reauth", who, { loginId: "", assertion }), "passkey_login_invalid");
    const elsewhere = await fixture.session(who.userId, { door: "bind" });
    const there = { ...who, principal: { ...who.principal, session: elsewhere.hash } };
    const mine = who.device.assert((await people.begin("reauth", who)).options);
    assert.equal(
      await people.finish("reauth", there, { loginId: "", assertion: mine }),
      "passkey_login_invalid",
    );
  });

  test("with the handle of another login is rejected", async () => {
    const who = await people.holder();
    const [one, other] = [await people.begin("discoverable", who), await people.begin("discoverable", who)];
    const assertion = who.device.assert(one.options);
    const end = await people.finish("discoverable", who, { loginId: other.loginId, assertion });
    assert.equal(end, "passkey_login_invalid");
  });

  test("without a user handle is rejected at the discoverable login", async () => {
    const who = await people.holder();
    assert.equal(await people.pass("discoverable", who, { userHandle: undefined }), "passkey_login_invalid");
    assert.equal(await people.pass("login", who, { userHandle: undefined }), undefined);
  });

  test("of a disabled or deleted account is rejected", async () => {
    for (const set of ["disabled = true", "deleted_at = now()"]) {
      for (const ceremony of ["login", "discoverable"] as const) {
        const who = await people.holder();
        const { options, loginId } = await people.begin(ceremony, who);
        await fixture.database.admin(`update identity.users set ${set} where id = $1`, [who.userId]);
        const assertion = who.device.assert(options);
        assert.equal(
          await people.finish(ceremony, who, { loginId, assertion }),
          "passkey_login_invalid",
          set,
        );
      }
    }
  });

  test("is counted and audited with the reason and, if known, the account", async () => {
    const who = await people.holder();
    const count = async (reason: string, userId: string | null) => {
      const rows = await fixture.database.admin(
        `select 1 from identity.audit_logs where action = 'auth.passkey.failed'
         and payload ->> 'reason' = $1 and actor_user_id is not distinct from $2`,
        [reason, userId],
      );
      return rows.length;
    };
    const line = 'svc_auth_failures_total{door="passkey",reason="no_account"}';
    const before = await fixture.metric(line);
    await people.pass("login", who, { isForged: true });
    await people.pass("discoverable", who, { userHandle: Buffer.from("nobody").toString("base64url") });
    await until(async () => (await count("bad_assertion", who.userId)) === 1);
    assert.equal(await fixture.metric(line), before + 1);
    await until(async () => (await count("no_account", null)) > 0);
  });
});
