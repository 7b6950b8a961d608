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
  type Lie,
  type RequestOptions,
} from "../testing/authenticator.ts";
import { type Bed, type Person, startBed } from "../testing/fixture.ts";

const minute = 60_000;
const velocity: Principal = { kind: "caller", caller: "velocity" };
const origin = "https://console.svc.localhost";

describe("account migration with a passkey", () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ set: ["smtp.max_per_hour=100000"] });
  });
  after(() => bed.stop());

  type Source = Person & { mcUuid: string; device: Authenticator };
  const as = (person: Person) => ({ principal: person.principal });
  /** A player with a verified address and a passkey, whose migration is open unless said otherwise. */
  const source = async ({ isOpen = true } = {}): Promise<Source> => {
    const email = `keyed-${randomUUID().slice(0, 8)}@example.org`;
    const person = await bed.person({ email, emailVerified: true });
    const mcUuid = randomUUID();
    await bed.store.db
      .transaction()
      .execute((trx) =>
        linkPlayer(trx, { userId: person.userId, mcUuid, authSource: "mojang", now: bed.now() }),
      );
    const device = createAuthenticator({ origin });
    const options = await bed.gateway.call(passkeys.beginRegister, {}, as(person));
    const attestation = device.register(options as CreationOptions);
    await bed.gateway.call(passkeys.finishRegister, { attestation }, as(person));
    if (isOpen) await bed.internal.call(contracts.start, { mc_uuid: mcUuid }, { principal: velocity });
    return { ...person, mcUuid, device };
  };
  const begin = async (person: Person): Promise<RequestOptions> => {
    const { publicKey } = await bed.gateway.call(contracts.beginPasskey, {}, as(person));
    return publicKey as RequestOptions;
  };
  const finish = (person: Person, assertion: object) =>
    bed.gateway.call(contracts.finishPasskey, { assertion: { ...assertion } }, as(person));
  const stateOf = async (person: Person) =>
    (await bed.gateway.call(contracts.read, {}, as(person))).state ?? "none";
  const faultOf = (answer: Promise<unknown>) =>
    answer.then(
      () => "none",
      (error: unknown) => (isFault(error) ? error.fault : String(error)),
    );

  test("a passkey confirms, and the view names it", async () => {
    const person = await source();
    const options = await begin(person);
    assert.deepEqual(await finish(person, person.device.assert(options)), { confirmed: true });
    const view = await bed.gateway.call(contracts.read, {}, as(person));
    assert.equal(view.state, "confirmed");
    assert.equal(view.confirm_factor, "passkey");
  });

  test("an account with a passkey is not confirmed by mail", async () => {
    const person = await source();
    const mail = bed.gateway.call(contracts.startCode, {}, as(person));
    assert.equal(await faultOf(mail), "passkey_required");
  });

  test("without a migration there is nothing to confirm, passkey or not", async () => {
    const person = await source({ isOpen: false });
    assert.equal(await faultOf(begin(person)), "no_migration");
    assert.equal(await faultOf(finish(person, {})), "no_migration");
    assert.equal(await faultOf(begin(await bed.person())), "no_migration");
  });

  test("an account without a passkey has none to confirm with", async () => {
    const person = await source();
    await bed.database.admin("delete from identity.webauthn_credentials where user_id = $1", [person.userId]);
    assert.equal(await faultOf(begin(person)), "no_passkey");
  });

  const lies: Record<string, Lie> = {
    "of another page": { origin: "https://evil.example.org" },
    "for another site": { rpId: "evil.example.org" },
    "without the user": { flags: 1 },
    "signed by another key": { isForged: true },
    "changed after it was signed": {
      tamper: (response) => ({ ...response, signature: bent(response["signature"]) }),
    },
  };
  for (const [what, lie] of Object.entries(lies)) {
    test(`an assertion ${what} is refused, counted and confirms nothing`, async () => {
      const person = await source();
      const line = 'svc_auth_failures_total{door="account_migration",reason="bad_assertion"}';
      const before = await bed.metric(line);
      const assertion = person.device.assert(await begin(person), lie);
      assert.equal(await faultOf(finish(person, assertion)), "passkey_login_invalid");
      assert.equal(await stateOf(person), "initiated");
      assert.equal(await bed.metric(line), before + 1);
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
    const { publicKey } = await bed.gateway.call(passkeys.beginReauth, {}, as(person));
    const assertion = person.device.assert(publicKey as unknown as RequestOptions);
    assert.equal(await faultOf(finish(person, assertion)), "passkey_login_invalid");
    assert.equal(await stateOf(person), "initiated");
  });

  test("an assertion that another session began does not confirm in this one", async () => {
    const person = await source();
    const other = await bed.session(person.userId);
    const elsewhere = { ...person, principal: { ...person.principal, session: other.hash } };
    const assertion = person.device.assert(await begin(elsewhere));
    assert.equal(await faultOf(finish(person, assertion)), "passkey_login_invalid");
  });

  test("a passkey of somebody else does not confirm", async () => {
    const [person, other] = [await source(), await source()];
    const assertion = other.device.assert(await begin(person));
    assert.equal(await faultOf(finish(person, assertion)), "passkey_login_invalid");
  });

  test("a challenge ends after five minutes", async () => {
    const person = await source();
    const options = await begin(person);
    bed.pass(5 * minute);
    assert.equal(await faultOf(finish(person, person.device.assert(options))), "passkey_login_invalid");
  });

  test("a code that is out stays out: it is not confirmed anew", async () => {
    const [person, target] = [await source(), await bed.person()];
    await finish(person, person.device.assert(await begin(person)));
    await bed.gateway.call(contracts.issueCode, { target_user_id: target.userId }, as(person));
    const assertion = person.device.assert(await begin(person));
    assert.equal(await faultOf(finish(person, assertion)), "already_confirmed");
    assert.equal(await stateOf(person), "code_issued");
  });
});
