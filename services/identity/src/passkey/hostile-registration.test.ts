// Whatever an attacker does with a registration, no credential is registered that is not what it claims to be.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { passkeys } from "@svc/proto";
import { type ForgedAttestation, flag } from "../testing/authenticator.ts";
import { head } from "../testing/cbor.ts";
import { type Fixture, startFixture } from "../testing/fixture.ts";
import { changed, deepList, forgeries, text } from "../testing/forged-responses.ts";
import { createPasskeyPeople } from "../testing/passkeys.ts";

const minute = 60_000;
const endlessMap = Buffer.concat([head(5, 0xffff_ffff), Buffer.from([0])]);
const endlessBytes = head(2, 0xffff_ffff);

describe("a hostile registration", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());
  const people = createPasskeyPeople(() => fixture);

  const cases: Record<string, ForgedAttestation> = {
    ...forgeries,
    "the type of an assertion": { type: "webauthn.get" },
    "nobody present": { flags: flag.verified | flag.attested },
    "nobody verified": { flags: flag.present | flag.attested },
    "no credential": { flags: flag.present | flag.verified },
    "backed up without being eligible": {
      flags: flag.present | flag.verified | flag.attested | flag.backedUp,
    },
    "self-attestation by another key": { format: "packed", isForged: true },
    "self-attestation for another algorithm": {
      ...{ format: "packed", statement: { alg: -257, sig: Buffer.alloc(64) } },
    },
    "a statement with format `none`": { format: "none", statement: { sig: Buffer.alloc(8) } },
    "an algorithm that was not offered": { claimedAlgorithm: -48 },
    "an algorithm other than the key's": { claimedAlgorithm: -8 },
    "a manufacturer certificate": { isCertified: true },
    "an unreadable certificate": {
      ...{ format: "packed", statement: { alg: -7, sig: Buffer.alloc(64), x5c: [Buffer.alloc(64)] } },
    },
    "an unsupported format": { format: "tpm" },
    "another unsupported format": { format: "apple", statement: { x5c: [Buffer.alloc(64)] } },
    "an empty object": { object: Buffer.alloc(0) },
    "bytes that are not CBOR": { object: Buffer.from("not cbor") },
    "deeply nested lists": { object: deepList },
    "a map of indefinite length": { object: endlessMap },
    "a byte string of indefinite length": { object: endlessBytes },
    "a truncated object": {
      tamper: (response) => changed(response, "attestationObject", (bytes) => bytes.subarray(0, 90)),
    },
    "client data that is not JSON": {
      tamper: (response) => ({ ...response, clientDataJSON: Buffer.from("{").toString("base64url") }),
    },
    "client data that is a list": {
      tamper: (response) => ({ ...response, clientDataJSON: text(["webauthn.create"]) }),
    },
    "client data that is null": {
      tamper: (response) => ({ ...response, clientDataJSON: text(null) }),
    },
    "no client data": { tamper: ({ clientDataJSON: _gone, ...rest }) => rest },
    "a number for client data": { tamper: (response) => ({ ...response, clientDataJSON: 7 }) },
    "an oversized response": {
      tamper: (response) => ({ ...response, attestationObject: "A".repeat(200_000) }),
    },
  };
  for (const [what, forgery] of Object.entries(cases)) {
    test(`is rejected: ${what}`, async () => {
      const person = await fixture.person();
      const device = people.newDevice();
      const attestation = device.register(await people.beginRegister(person), forgery);
      const answer = await fixture.refused(passkeys.finishRegister, { attestation }, people.as(person));
      assert.equal(answer.fault, "passkey_register_failed");
      const { credentials } = await fixture.gateway.call(passkeys.list, {}, people.as(person));
      assert.deepEqual(credentials, []);
    });
  }

  for (const attestation of [
    {},
    { id: 1 },
    { response: null },
    { id: "a", rawId: "a", type: "public-key", response: [] },
  ]) {
    test(`is rejected: ${JSON.stringify(attestation)}`, async () => {
      const person = await fixture.person();
      const answer = await fixture.refused(passkeys.finishRegister, { attestation }, people.as(person));
      assert.equal(answer.fault, "passkey_register_failed");
    });
  }

  test("is rejected in another session, from another person, late, and a second time", async () => {
    const person = await fixture.person();
    const other = await fixture.person();
    const elsewhere = await fixture.session(person.userId);
    const refused = async (who: typeof person, attestation: Record<string, unknown>) =>
      (await fixture.refused(passkeys.finishRegister, { attestation }, people.as(who))).fault;
    const made = async () => people.newDevice().register(await people.beginRegister(person));
    assert.equal(await refused(other, await made()), "passkey_register_failed");
    const there = { ...person, principal: { ...person.principal, session: elsewhere.hash } };
    assert.equal(await refused(there, await made()), "passkey_register_failed");
    const late = await made();
    fixture.pass(5 * minute);
    assert.equal(await refused(person, late), "passkey_register_failed");
    const fine = await made();
    await fixture.gateway.call(passkeys.finishRegister, { attestation: fine }, people.as(person));
    assert.equal(await refused(person, fine), "passkey_register_failed");
  });

  test("a passkey of another account is not registered again", async () => {
    const first = await people.holder();
    const second = await fixture.person();
    const attestation = first.device.register(await people.beginRegister(second));
    const answer = await fixture.refused(passkeys.finishRegister, { attestation }, people.as(second));
    assert.equal(answer.fault, "passkey_taken");
    const userHandle = Buffer.from(first.userId).toString("base64url");
    assert.equal(await people.pass("login", first, { userHandle }), undefined);
  });

  test("of ten parallel responses to one challenge, one registers", async () => {
    const person = await fixture.person();
    const options = await people.beginRegister(person);
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        fixture.gateway.call(
          passkeys.finishRegister,
          { attestation: people.newDevice().register(options) },
          people.as(person),
        ),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
    const { credentials } = await fixture.gateway.call(passkeys.list, {}, people.as(person));
    assert.equal(credentials.length, 1);
  });
});
