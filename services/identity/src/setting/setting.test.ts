import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { faultOf, until } from "@svc/mesh/testing";
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

  describe("a server's activity", () => {
    const at = (minute: number) => `2026-02-01T00:0${minute}:00.000Z`;
    const list = (viewer: string, about: { since?: string; cursor?: string; limit?: number } = {}) =>
      fixture.lifecycle.call(settings.listActivity, { server: "seen", viewer, limit: 50, ...about });

    test("shows who did what, without addresses, names of staff and texts of other people", async () => {
      const [mine, other, admin] = [
        await fixture.person(),
        await fixture.person(),
        await fixture.person({ role: "admin" }),
      ];
      const secret = { client_ip: "192.0.2.7", user_agent: "browser", request_id: "r-1" };
      const add = (
        minute: number,
        about: { actor: string; actor_user_id?: string; source: string },
        server = "seen",
      ) =>
        saveEntry(fixture.store.db, {
          ...{
            id: `seen-${server}-${minute}`,
            at: at(minute),
            action: "console.command",
            server_name: server,
          },
          ...secret,
          payload: {
            command: "login hunter2",
            label: "mine",
            player: "Ada",
            token: "t",
            outcome: "ok",
            public: true,
          },
          ...about,
        });
      await add(1, { actor: "former", source: "external" });
      await add(2, { actor: mine.principal.username, actor_user_id: mine.userId, source: "external" });
      await add(3, { actor: other.principal.username, actor_user_id: other.userId, source: "external" });
      await add(4, { actor: admin.principal.username, actor_user_id: admin.userId, source: "external" });
      await add(5, { actor: "velocity", source: "internal:velocity" });
      await add(6, { actor: "root", source: "break-glass" });
      await add(7, { actor: "root", source: "break-glass" }, "seen-not");
      await add(8, { actor: "root", source: "break-glass" }, "seen:plugins/a.yml");

      const { entries } = await list(mine.userId, { since: at(2) });
      const others = { player: "Ada", outcome: "ok", public: true };
      assert.deepEqual(
        entries.map(({ by, name, payload }) => ({ by, name, payload })),
        [
          { by: "svc", name: undefined, payload: { ...others, path: "plugins/a.yml" } },
          { by: "svc", name: undefined, payload: others },
          { by: "player", name: undefined, payload: others },
          { by: "staff", name: undefined, payload: others },
          { by: "account", name: other.principal.username, payload: others },
          { by: "you", name: undefined, payload: { ...others, command: "login hunter2", label: "mine" } },
        ],
      );
      const text = JSON.stringify(entries);
      for (const word of [
        "192.0.2.7",
        "browser",
        "r-1",
        "former",
        "root",
        admin.principal.username,
        admin.userId,
      ]) {
        assert.ok(!text.includes(`"${word}"`), word);
      }
      const first = await list(mine.userId, { limit: 4 });
      const rest = await list(mine.userId, { limit: 4, cursor: first.next ?? "" });
      assert.deepEqual([first.entries.length, rest.entries.length, rest.next], [4, 3, undefined]);
      assert.equal(await faultOf(list(mine.userId, { cursor: "x" })), "bad_request");
    });
  });

  test("a server's activity says whose access was changed, and how", async () => {
    const [mine, member] = [await fixture.person(), await fixture.person()];
    const { userId } = member;
    const grant = { rights: ["see", "files.read"], limits: { read_paths: ["plugins"] } };
    await saveEntry(fixture.store.db, {
      ...{ id: "shared-1", at: "2026-02-01T00:00:00.000Z", action: "server.access.change" },
      ...{ server_name: "shared", source: "external", actor: mine.principal.username },
      actor_user_id: mine.userId,
      payload: { user_id: userId, before: { rights: ["see", "power"] }, ...grant },
    });
    const about = { server: "shared", viewer: mine.userId, limit: 50 };
    const { entries } = await fixture.lifecycle.call(settings.listActivity, about);
    const access = {
      ...{ account: member.principal.username, given: ["files.read"], taken: ["power"] },
      limits: [{ limit: "read_paths", now: ["plugins"] }],
    };
    assert.deepEqual(
      entries.map((entry) => [entry.by, entry.payload, entry.access]),
      [["you", {}, access]],
    );
    await fixture.store.db.deleteFrom("users").where("id", "=", userId).execute();
    const after = await fixture.lifecycle.call(settings.listActivity, about);
    assert.equal(after.entries[0]?.access?.account, undefined);
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

    test("is paged newest first without gaps or repeats, also within one millisecond", async () => {
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
      ["a prefix of actions", { action: "file.*" }, 20],
      ["a literal wildcard in an action", { action: "file%" }, 0],
      ["a time range", { since: "2026-01-01T00:00:05Z", until: "2026-01-01T00:00:10Z" }, 10],
      ["several filters", { server: "survival", action: "file.delete", actor: "alex" }, 10],
    ];
    for (const [what, filter, count] of filters) {
      test(`is filtered by ${what}`, async () => assert.equal((await search(filter)).entries.length, count));
    }

    test("rejects an invalid cursor", async () => {
      const refused = await fixture.refused(settings.searchAudit, { limit: 5, cursor: "1; drop" }, asOwner());
      assert.equal(refused.fault, "bad_request");
    });
  });
});
