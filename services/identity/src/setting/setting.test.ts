import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { settings } from "@svc/proto";
import { saveEntry } from "../audit/store.ts";
import { type Fixture, type Person, startFixture, stateOf } from "../testing/fixture.ts";

describe("platform settings and the audit log", () => {
  let fixture: Fixture;
  let owner: Person;
  before(async () => {
    fixture = await startFixture();
    owner = await fixture.person({ role: "owner" });
  });
  after(() => fixture.stop());
  const asOwner = () => ({ principal: owner.principal });

  test("password sign-in is off until the owner enables it, and its sessions follow", async () => {
    const person = await fixture.person({ door: "password" });
    assert.deepEqual(await fixture.gateway.call(settings.readSettings, {}, asOwner()), {
      local_auth_enabled: false,
    });
    assert.equal((await stateOf(fixture, person.session)).state, "local_auth_off");
    await fixture.gateway.call(settings.writeSettings, { local_auth_enabled: true }, asOwner());
    assert.equal((await stateOf(fixture, person.session)).state, "live");
    assert.deepEqual(await fixture.gateway.call(settings.writeSettings, {}, asOwner()), {
      local_auth_enabled: true,
    });
  });

  test("disabling password sign-in evicts its sessions, and no others, from the gateways at once", async () => {
    const [shut, other] = [await fixture.person({ door: "password" }), await fixture.person()];
    const forgotten: string[] = [];
    const stop = fixture.gateway.listen(
      "svc.evt.identity.session.revoked.*",
      (subject) => void forgotten.push(subject.slice(subject.lastIndexOf(".") + 1)),
    );
    const set = (local_auth_enabled: boolean) =>
      fixture.gateway.call(settings.writeSettings, { local_auth_enabled }, asOwner());
    await set(false);
    await until(() => forgotten.includes(shut.session));
    stop();
    assert.ok(!forgotten.includes(other.session));
    assert.equal((await stateOf(fixture, shut.session)).state, "local_auth_off");
    await set(true);
    assert.equal((await stateOf(fixture, shut.session)).state, "live");
  });

  test("an unreadable setting counts as off", async () => {
    await fixture.database.admin(
      `update identity.platform_settings set value = '"yes"' where key = 'local_auth_enabled'`,
    );
    assert.deepEqual(await fixture.gateway.call(settings.readSettings, {}, asOwner()), {
      local_auth_enabled: false,
    });
  });

  describe("the audit log", () => {
    const start = Date.parse("2026-01-01T00:00:00.000Z");
    const kinds = [
      { action: "file.write", server_name: "survival:plugins/a.yml", actor: "alex" },
      { action: "file.delete", server_name: "survival:world", actor: "alex" },
      { action: "server.wake", server_name: "creative", actor: "velocity" },
      { action: "auth.email.failed", actor: "anonymous" },
    ];
    before(async () => {
      for (let n = 0; n < 40; n++) {
        const kind = kinds[n % kinds.length];
        if (!kind) throw new Error("no kind");
        const at = new Date(start + Math.floor(n / 2) * 1_000).toISOString();
        await saveEntry(fixture.store.db, {
          id: `entry-${n}`,
          at,
          source: "external",
          payload: { n },
          ...kind,
        });
      }
    });
    const until = new Date(start + 3_600_000).toISOString();
    const search = (about: object) =>
      fixture.gateway.call(settings.searchAudit, { limit: 100, until, ...about }, asOwner());

    test("pages come newest first without a gap or a repeat, also within one millisecond", async () => {
      const seen: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await search({ limit: 7, ...(cursor !== undefined && { cursor }) });
        seen.push(...page.entries.map(({ payload }) => payload["n"]));
        cursor = page.next;
      } while (cursor !== undefined);
      assert.deepEqual(
        seen,
        Array.from({ length: 40 }, (_, index) => 39 - index),
      );
    });

    const filters: [what: string, filter: object, count: number][] = [
      ["a server, its files too", { server: "survival" }, 20],
      ["an actor", { actor: "alex" }, 20],
      ["an action", { action: "server.wake" }, 10],
      ["the beginning of actions", { action: "file.*" }, 20],
      ["a wildcard in an action is none", { action: "file%" }, 0],
      ["a span of time", { since: "2026-01-01T00:00:05Z", until: "2026-01-01T00:00:10Z" }, 10],
      ["several at once", { server: "survival", action: "file.delete", actor: "alex" }, 10],
    ];
    for (const [what, filter, count] of filters) {
      test(`it is filtered by ${what}`, async () =>
        assert.equal((await search(filter)).entries.length, count));
    }

    test("a foreign cursor is rejected", async () => {
      const refused = await fixture.refused(settings.searchAudit, { limit: 5, cursor: "1; drop" }, asOwner());
      assert.equal(refused.fault, "bad_request");
    });
  });
});
