import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { accounts, passkeys, signIn } from "@svc/proto";
import { startBed, stateOf } from "../testing/fixture.ts";
import { createPasskeyPeople, panel, stranger } from "../testing/passkeys.ts";

describe("an installation", () => {
  test("without a mail relay keeps the last passkey of a verified address too", async () => {
    const bed = await startBed({ hasRelay: false });
    try {
      const people = createPasskeyPeople(() => bed);
      const who = await people.holder();
      const { credentials } = await bed.gateway.call(passkeys.list, {}, people.as(who));
      const given = { id: credentials[0]?.id ?? "" };
      assert.equal((await bed.refused(passkeys.remove, given, people.as(who))).fault, "last_passkey");
      const { methods } = await bed.gateway.call(signIn.options, { email: who.email }, stranger());
      assert.deepEqual(methods, ["passkey"]);
    } finally {
      await bed.stop();
    }
  });

  test("without a host of the panel has no passkeys, and shows those that there are", async () => {
    const bed = await startBed({ set: ['auth.panel_hostname=""'] });
    try {
      const person = await bed.person({ email: "nowhere@example.org", emailVerified: true });
      await bed.database.admin(
        `insert into identity.webauthn_credentials (id, user_id, credential_id, public_key, created_at)
         values ('c', $1, 'AAAA', '', now())`,
        [person.userId],
      );
      const mine = { principal: person.principal };
      const assertion = {};
      const email = "nowhere@example.org";
      const faults = [
        await bed.refused(passkeys.beginRegister, {}, mine),
        await bed.refused(passkeys.finishRegister, { attestation: {} }, mine),
        await bed.refused(passkeys.beginReauth, {}, mine),
        await bed.refused(passkeys.finishReauth, { assertion }, mine),
        await bed.refused(passkeys.beginLogin, { email }, stranger()),
        await bed.refused(passkeys.finishLogin, { email, assertion }, stranger()),
        await bed.refused(passkeys.beginDiscoverable, {}, stranger()),
        await bed.refused(passkeys.finishDiscoverable, { login_id: "x", assertion }, stranger()),
      ].map(({ fault }) => fault);
      assert.deepEqual(faults, Array(8).fill("passkey_unavailable"));
      const { credentials } = await bed.gateway.call(passkeys.list, {}, mine);
      assert.equal(credentials.length, 1);
      const { methods } = await bed.gateway.call(signIn.options, { email }, stranger());
      assert.deepEqual(methods, ["email_otp"]);
      const { factors } = await bed.gateway.call(passkeys.reauthStatus, {}, mine);
      assert.deepEqual(factors, ["email"]);
    } finally {
      await bed.stop();
    }
  });

  test("takes passkeys from the panel, the operator console and the origins of its own", async () => {
    const extra = "http://console.svc.localhost:8080";
    const bed = await startBed({ set: [`auth.extra_origins=["${extra}/"]`] });
    try {
      const people = createPasskeyPeople(() => bed);
      const who = await people.holder();
      for (const origin of [panel.origin, "https://op.console.svc.localhost", extra])
        assert.equal(await people.pass("login", who, { origin }), undefined, origin);
    } finally {
      await bed.stop();
    }
  });

  test("counts a passkey as a durable way in: an operator leaves setup with it", async () => {
    const bed = await startBed();
    try {
      const people = createPasskeyPeople(() => bed);
      const owner = await bed.person({ role: "owner" });
      const setup = async () => {
        const state = await stateOf(bed, owner.session);
        const told = await bed.gateway.call(accounts.setupStatus, {}, people.as(owner));
        return [state.state === "live" && state.setup, told.setup_required, told.has_passkey];
      };
      assert.deepEqual(await setup(), [true, true, false]);
      await people.register(owner, people.newDevice());
      assert.deepEqual(await setup(), [false, false, true]);
    } finally {
      await bed.stop();
    }
  });
});
