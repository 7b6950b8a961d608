import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { accounts, passkeys, signIn } from "@svc/proto";
import { startFixture, stateOf } from "../testing/fixture.ts";
import { createPasskeyPeople, panel, stranger } from "../testing/passkeys.ts";

describe("an installation", () => {
  test("without a mail relay refuses to remove the last passkey although the address is verified", async () => {
    const fixture = await startFixture({ hasRelay: false });
    try {
      const people = createPasskeyPeople(() => fixture);
      const who = await people.holder();
      const { credentials } = await fixture.gateway.call(passkeys.list, {}, people.as(who));
      const given = { id: credentials[0]?.id ?? "" };
      assert.equal((await fixture.refused(passkeys.remove, given, people.as(who))).fault, "last_passkey");
      const { methods } = await fixture.gateway.call(signIn.options, { email: who.email }, stranger());
      assert.deepEqual(methods, ["passkey"]);
    } finally {
      await fixture.stop();
    }
  });

  test("without a panel host registers no passkeys, but lists existing ones", async () => {
    const fixture = await startFixture({ set: ['auth.panel_hostname=""'] });
    try {
      const person = await fixture.person({ email: "nowhere@example.org", emailVerified: true });
      await fixture.database.admin(
        `insert into identity.webauthn_credentials (id, user_id, credential_id, public_key, created_at)
         values ('c', $1, 'AAAA', '', now())`,
        [person.userId],
      );
      const mine = { principal: person.principal };
      const assertion = {};
      const email = "nowhere@example.org";
      const faults = [
        await fixture.refused(passkeys.beginRegister, {}, mine),
        await fixture.refused(passkeys.finishRegister, { attestation: {} }, mine),
        await fixture.refused(passkeys.beginReauth, {}, mine),
        await fixture.refused(passkeys.finishReauth, { assertion }, mine),
        await fixture.refused(passkeys.beginLogin, { email }, stranger()),
        await fixture.refused(passkeys.finishLogin, { email, assertion }, stranger()),
        await fixture.refused(passkeys.beginDiscoverable, {}, stranger()),
        await fixture.refused(passkeys.finishDiscoverable, { login_id: "x", assertion }, stranger()),
      ].map(({ fault }) => fault);
      assert.deepEqual(faults, Array(8).fill("passkey_unavailable"));
      const { credentials } = await fixture.gateway.call(passkeys.list, {}, mine);
      assert.equal(credentials.length, 1);
      const { methods } = await fixture.gateway.call(signIn.options, { email }, stranger());
      assert.deepEqual(methods, ["email_otp"]);
      const { factors } = await fixture.gateway.call(passkeys.reauthStatus, {}, mine);
      assert.deepEqual(factors, ["email"]);
    } finally {
      await fixture.stop();
    }
  });

  test("accepts passkeys from the panel, the operator console and its extra origins", async () => {
    const extra = "http://console.svc.localhost:8080";
    const fixture = await startFixture({ set: [`auth.extra_origins=["${extra}/"]`] });
    try {
      const people = createPasskeyPeople(() => fixture);
      const who = await people.holder();
      for (const origin of [panel.origin, "https://op.console.svc.localhost", extra])
        assert.equal(await people.pass("login", who, { origin }), undefined, origin);
    } finally {
      await fixture.stop();
    }
  });

  test("counts a passkey as a durable way in: an operator completes setup with it", async () => {
    const fixture = await startFixture();
    try {
      const people = createPasskeyPeople(() => fixture);
      const owner = await fixture.person({ role: "owner" });
      const setup = async () => {
        const state = await stateOf(fixture, owner.session);
        const received = await fixture.gateway.call(accounts.setupStatus, {}, people.as(owner));
        return [state.state === "live" && state.setup, received.setup_required, received.has_passkey];
      };
      assert.deepEqual(await setup(), [true, true, false]);
      await people.register(owner, people.newDevice());
      assert.deepEqual(await setup(), [false, false, true]);
    } finally {
      await fixture.stop();
    }
  });
});
