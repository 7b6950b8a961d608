import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { accountMigrations as contracts, isFault, type Principal, passkeys } from "@svc/proto";
import { linkPlayer } from "../link/store.ts";
import {
  type Authenticator,
  bent,
  type CreationOptions,
  createAuthenticator,
  type Forgery,
  type RequestOptions,
} from "../testing/authenticator.ts";
import { type Fixture, type Person, startFixture } from "../testing/fixture.ts";

const minute = 60_000;
const velocity: Principal = { kind: "caller", caller: "velocity" };
const origin = "https://console.svc.localhost";

describe("a server transfer confirmed by a passkey", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ set: ["smtp.max_per_hour=100000"] });
  });
  after(() => fixture.stop());

  type Source = Person & { mcUuid: string; device: Authenticator };
  const as = (person: Person) => ({ principal: person.principal });
  /** A player with a verified address and a passkey, by default with an open transfer. */
  const source = async ({ isOpen = true } = {}): Promise<Source> => {
    const email = `keyed-${randomUUID().slice(0, 8)}@example.org`;
    const person = await fixture.person({ email, emailVerified: true });
    const mcUuid = randomUUID();
    await fixture.store.db
      .transaction()
      .execute((trx) =>
        linkPlayer(trx, { userId: person.userId, mcUuid, authSource: "mojang", now: fixture.now() }),
      );
    const device = createAuthenticator({ origin });
    const options = await fixture.gateway.call(passkeys.beginRegister, {}, as(person));
    const attestation = device.register(options as CreationOptions);
    await fixture.gateway.call(passkeys.finishRegister, { attestation }, as(person));
    if (isOpen) await fixture.internal.call(contracts.start, { mc_uuid: mcUuid }, { principal: velocity });
    return { ...person, mcUuid, device };
  };
  const begin = async (person: Person): Promise<RequestOptions> => {
    const { publicKey } = await fixture.gateway.call(contracts.beginPasskey, {}, as(person));
    return publicKey as RequestOptions;
  };
  const finish = (person: Person, assertion: object) =>
    fixture.gateway.call(contracts.finishPasskey, { assertion: { ...assertion } }, as(person));
  const stateOf = async (person: Person) =>
    (await fixture.gateway.call(contracts.read, {}, as(person))).state ?? "none";
  const faultOf = (answer: Promise<unknown>) =>
    answer.then(
      () => "none",
      (error: unknown) => (isFault(error) ? error.fault : String(error)),
    );

  test("a passkey confirms the transfer, and the view names it", async () => {
    const person = await source();
    const options = await begin(person);
    assert.deepEqual(await finish(person, person.device.assert(options)), { confirmed: true });
    const view = await fixture.gateway.call(contracts.read, {}, as(person));
    assert.equal(view.state, "confirmed");
    assert.equal(view.confirm_factor, "passkey");
  });

  test("an account with a passkey cannot confirm by mail", async () => {
    const person = await source();
    const mail = fixture.gateway.call(contracts.startCode, {}, as(person));
    assert.equal(await faultOf(mail), "passkey_required");
  });

  test("without an open transfer a confirmation is rejected, with or without a passkey", async () => {
    const person = await source({ isOpen: false });
    assert.equal(await faultOf(begin(person)), "no_migration");
    assert.equal(await faultOf(finish(person, {})), "no_migration");
    assert.equal(await faultOf(begin(await fixture.person())), "no_migration");
  });

  test("an account without a passkey cannot confirm with one", async () => {
    const person = await source();
    await fixture.database.admin("delete from identity.webauthn_credentials where user_id = $1", [
      person.userId,
    ]);
    assert.equal(await faultOf(begin(person)), "no_passkey");
  });

  const forgeries: Record<string, Forgery> = {
    "of another page": { origin: "https://evil.example.org" },
    "for another site": { rpId: "evil.example.org" },
    "without the user": { flags: 1 },
    "signed by another key": { isForged: true },
    "altered after it was signed": {
      tamper: (response) => ({ ...response, signature: bent(response["signature"]) }),
    },
  };
  for (const [what, forgery] of Object.entries(forgeries)) {
    test(`an assertion ${what} is rejected, counted and confirms nothing`, async () => {
      const person = await source();
      const line = 'svc_auth_failures_total{door="account_migration",reason="bad_assertion"}';
      const before = await fixture.metric(line);
      const assertion = person.device.assert(await begin(person), forgery);
      assert.equal(await faultOf(finish(person, assertion)), "passkey_login_invalid");
      assert.equal(await stateOf(person), "initiated");
      assert.equal(await fixture.metric(line), before + 1);
    });
  }

  test("an assertion works once", async () => {
    const person = await source();
    const assertion = person.device.assert(await begin(person));
    await finish(person, assertion);
    assert.equal(await faultOf(finish(person, assertion)), "passkey_login_invalid");
  });

  test("an assertion for a reauthentication does not confirm", async () => {
    const person = await source();
    const { publicKey } = await fixture.gateway.call(passkeys.beginReauth, {}, as(person));
    const assertion = person.device.assert(publicKey as unknown as RequestOptions);
    assert.equal(await faultOf(finish(person, assertion)), "passkey_login_invalid");
    assert.equal(await stateOf(person), "initiated");
  });

  test("an assertion for another session does not confirm", async () => {
    const person = await source();
    const other = await fixture.session(person.userId);
    const elsewhere = { ...person, principal: { ...person.principal, session: other.hash } };
    const assertion = person.device.assert(await begin(elsewhere));
    assert.equal(await faultOf(finish(person, assertion)), "passkey_login_invalid");
  });

  test("a passkey of another account does not confirm", async () => {
    const [person, other] = [await source(), await source()];
    const assertion = other.device.assert(await begin(person));
    assert.equal(await faultOf(finish(person, assertion)), "passkey_login_invalid");
  });

  test("a challenge expires after five minutes", async () => {
    const person = await source();
    const options = await begin(person);
    fixture.pass(5 * minute);
    assert.equal(await faultOf(finish(person, person.device.assert(options))), "passkey_login_invalid");
  });

  test("a transfer with an issued code cannot be confirmed again", async () => {
    const [person, target] = [await source(), await fixture.person()];
    await finish(person, person.device.assert(await begin(person)));
    await fixture.gateway.call(contracts.issueCode, { target_user_id: target.userId }, as(person));
    const assertion = person.device.assert(await begin(person));
    assert.equal(await faultOf(finish(person, assertion)), "already_confirmed");
    assert.equal(await stateOf(person), "code_issued");
  });
});
