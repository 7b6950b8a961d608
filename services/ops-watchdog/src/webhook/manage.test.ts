// Webhooks as people manage them (docs/reference/webhooks.md), with PostgreSQL, NATS and HTTP servers.

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { account, faultOf, staff, tokenOf } from "@svc/mesh/testing";
import { type MemberRight, ownership, webhooks } from "@svc/proto";
import { startWebhookFixture, type WebhookFixture } from "../testing/webhook-fixture.ts";
import { createWebhookOperations, owner } from "../testing/webhook-operations.ts";

const helper = account("usr-2");
let fixture: WebhookFixture;
const { reset, create, list, deliveries, joined, hurry } = createWebhookOperations(() => fixture);
before(async () => {
  fixture = await startWebhookFixture();
});
after(() => fixture?.stop());
beforeEach(reset);

describe("owners", () => {
  test("add, see, change and delete webhooks; address and secret are shown never again", async () => {
    const { webhook, secret } = await create();
    assert.match(secret ?? "", /^svc_whs_[\w-]{43}$/);
    assert.equal(webhook.host, new URL(fixture.receivers[0].url).host);
    const { secret: none } = await create({ format: "discord", label: "Discord" });
    assert.equal(none, undefined);
    const changed = await fixture.gateway.call(
      webhooks.change,
      {
        name: "survival",
        id: webhook.id,
        label: "Log",
        events: ["server.failed"],
        language: "zh",
        enabled: false,
      },
      owner,
    );
    assert.deepEqual(
      [changed.enabled, changed.off_reason, changed.events],
      [false, "by_hand", ["server.failed"]],
    );
    const shown = JSON.stringify(await list());
    assert.doesNotMatch(shown, /\/hook|svc_whs/);
    await fixture.gateway.call(webhooks.remove, { name: "survival", id: webhook.id }, owner);
    assert.deepEqual(
      (await list()).webhooks.map(({ label }) => label),
      ["Discord"],
    );
    const audits = await fixture.sql("select subject, body::text from ops_watchdog.outbox");
    assert.deepEqual(
      audits.map(({ body }) => JSON.parse(String(body)).action),
      ["webhook.create", "webhook.create", "webhook.change", "webhook.delete"],
    );
    assert.doesNotMatch(JSON.stringify(audits), /\/hook|svc_whs/);
  });

  test("have five at a server, also when they are added at once", async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => faultOf(create())));
    assert.deepEqual(made.toSorted(), [...Array(5).fill("none"), ...Array(3).fill("webhook_limit")]);
  });

  test("are told what is wrong with an address", async () => {
    for (const url of [
      "http://example.org/",
      "https://127.0.0.1/",
      "https://example.org:25/",
      "x",
      "https://[::1]/",
    ])
      assert.equal(await faultOf(create({ url })), "bad_webhook_url", url);
    assert.equal(await faultOf(create({ events: [] })), "bad_request");
    assert.equal(await faultOf(create({ events: ["alert.firing"] as never })), "bad_request");
    assert.equal(await faultOf(create({ name: "login" })), "bad_name");
    assert.equal(await faultOf(create({ name: "nowhere" })), "not_found");
  });

  test("let members with the right to settings; strangers, tokens and staff send nothing anywhere", async () => {
    const { webhook } = await create();
    const which = { name: "survival", id: webhook.id };
    const tryAll = async (as: typeof owner) => [
      await faultOf(list(as)),
      await faultOf(create({}, as)),
      await faultOf(fixture.gateway.call(webhooks.rotate, which, as)),
      await faultOf(fixture.gateway.call(webhooks.test, which, as)),
    ];
    const none = Array(4).fill("forbidden");
    fixture.sharing.set("survival", { owner_id: "usr-1", members: [{ user_id: "usr-2", rights: ["see"] }] });
    assert.deepEqual(await tryAll(helper), none);
    assert.deepEqual(await tryAll(account("usr-3")), none);
    assert.deepEqual(await tryAll(tokenOf("usr-1", { rights: ["see", "settings"] })), none);
    assert.deepEqual(await tryAll(staff), ["none", ...none.slice(1)]);
    fixture.sharing.set("survival", {
      ...{ owner_id: "usr-1", members: [{ user_id: "usr-2", rights: ["see", "settings", "players"] }] },
    });
    assert.deepEqual(await tryAll(helper), Array(4).fill("none"));
    assert.equal(await faultOf(fixture.gateway.call(webhooks.remove, which, staff)), "none");
    assert.equal(await faultOf(fixture.gateway.call(webhooks.remove, which, owner)), "webhook_not_found");
  });

  test("delete webhooks while attempts end", async () => {
    for (let turn = 0; turn < 40; turn++) {
      const { webhook } = await create();
      const which = { name: "survival", id: webhook.id };
      await fixture.gateway.call(webhooks.test, which, owner);
      assert.equal(await faultOf(fixture.gateway.call(webhooks.remove, which, owner)), "none", `${turn}`);
    }
  });

  test("find no webhook of another server, or of the owner before", async () => {
    const { webhook } = await create();
    const { id } = webhook;
    assert.equal(
      await faultOf(fixture.gateway.call(webhooks.remove, { name: "creative", id }, owner)),
      "webhook_not_found",
    );
    fixture.sharing.set("survival", { owner_id: "usr-9", members: [] });
    assert.deepEqual((await list(account("usr-9"))).webhooks, []);
    fixture.isLifecycleAway = true;
    assert.equal(await faultOf(list()), "unavailable");
  });
});

describe("members", () => {
  const share = (...rights: MemberRight[]) =>
    fixture.sharing.set("survival", { owner_id: "usr-1", members: [{ user_id: "usr-2", rights }] });
  const wanted = { name: "survival", label: "Log", language: "en", enabled: true } as const;

  test("choose no event that their rights do not show them", async () => {
    share("see", "settings");
    assert.equal(await faultOf(create({ events: ["player.joined"] }, helper)), "forbidden");
    assert.equal(await faultOf(create({ events: ["schedule.failed"] }, helper)), "forbidden");
    assert.equal(await faultOf(create({ events: ["server.ready", "backup.failed"] }, helper)), "none");
    const { webhook } = await create();
    const change = { ...wanted, id: webhook.id, events: ["player.left" as const] };
    assert.equal(await faultOf(fixture.gateway.call(webhooks.change, change, helper)), "forbidden");
    share("see", "settings", "players");
    assert.equal(await faultOf(fixture.gateway.call(webhooks.change, change, helper)), "none");
  });

  test("who lose the right to an event are told nothing more", async () => {
    share("see", "settings", "players");
    await create({}, helper);
    share("see", "settings");
    await joined("Ada");
    await until(async () => (await list()).webhooks[0]?.off_reason === "access_ended");
    assert.equal(fixture.receivers[0].received.length, 0);
  });

  test("get nothing sent to an address of theirs that was for the owner's", async () => {
    share("see", "settings");
    const { webhook } = await create();
    const { id } = webhook;
    fixture.receivers[0].answer = (response) => void response.writeHead(200).end("Ada joined");
    await joined("Ada");
    await until(async () => (await deliveries(id))[0]?.state === "delivered");
    fixture.receivers[0].answer = (response) => void response.writeHead(500).end();
    await joined("Ben");
    await until(async () => (await deliveries(id))[0]?.attempts === 1);
    const url = `${fixture.receivers[1].url}/theirs`;
    const change = { ...wanted, id, events: ["server.ready" as const], url };
    await fixture.gateway.call(webhooks.change, change, helper);
    for (const { id: delivery } of await deliveries(id)) {
      const again = { name: "survival", id, delivery };
      await fixture.gateway.call(webhooks.redeliver, again, helper);
    }
    await fixture.gateway.call(webhooks.test, { name: "survival", id }, helper);
    await until(async () => (await deliveries(id)).every(({ state }) => state !== "waiting"));
    assert.deepEqual(
      (await deliveries(id)).map(({ type, state, failure }) => [type, state, failure]),
      [
        ["ping", "delivered", undefined],
        ["player.joined", "dropped", "event_removed"],
        ["player.joined", "dropped", "event_removed"],
      ],
    );
    assert.doesNotMatch(JSON.stringify(fixture.receivers[1].received), /Ada|Ben/);
    const page = { name: "survival", id, limit: 10, offset: 0 };
    const shown = await fixture.gateway.call(webhooks.listDeliveries, page, helper);
    assert.doesNotMatch(JSON.stringify(shown), /Ada/);
    assert.match(JSON.stringify(await deliveries(id)), /Ada/);
  });
});

describe("webhooks end", () => {
  test("with the owner, by event and at each attempt, but not those that the next owner added", async () => {
    await create();
    const at = new Date().toISOString();
    fixture.sharing.set("survival", { owner_id: "usr-2", members: [] });
    const { webhook } = await create({}, helper);
    const change = { name: "survival", from_user_id: "usr-1", to_user_id: "usr-2", at };
    await fixture.publish(ownership.serverTransferred, change);
    await until(async () => (await fixture.sql("select id from ops_watchdog.webhooks")).length === 1);
    assert.deepEqual(
      (await list(helper)).webhooks.map(({ id }) => id),
      [webhook.id],
    );
    // An event that nobody heard of yet.
    fixture.sharing.set("survival", { owner_id: "usr-3", members: [] });
    await joined("Ada");
    await until(async () => (await fixture.sql("select id from ops_watchdog.webhooks")).length === 0);
    assert.equal(fixture.receivers[0].received.length, 0);
  });

  test("with the server", async () => {
    await create();
    fixture.sharing.delete("survival");
    await joined("Ada");
    await until(async () => (await fixture.sql("select id from ops_watchdog.webhooks")).length === 0);
  });

  test("when the member who saved them leaves: they are switched off, and the owner can switch them on", async () => {
    const member = { user_id: "usr-2", rights: ["see" as const, "settings" as const, "players" as const] };
    fixture.sharing.set("survival", { owner_id: "usr-1", members: [member] });
    const { webhook } = await create({}, helper);
    fixture.sharing.set("survival", { owner_id: "usr-1", members: [] });
    await joined("Ada");
    await until(async () => (await list()).webhooks[0]?.off_reason === "access_ended");
    assert.equal(fixture.receivers[0].received.length, 0);
    await hurry(webhook);
    await until(() => fixture.receivers[0].received.length === 1);
  });

  test("when the account of the member who saved them is disabled: they are switched off", async () => {
    const member = { user_id: "usr-2", rights: ["see" as const, "settings" as const, "players" as const] };
    fixture.sharing.set("survival", { owner_id: "usr-1", members: [member] });
    await create({}, helper);
    const before = fixture.receivers[0].received.length;
    fixture.disabled.add("usr-2");
    await joined("Ada");
    await until(async () => (await list()).webhooks[0]?.off_reason === "access_ended");
    fixture.disabled.clear();
    assert.equal(fixture.receivers[0].received.length, before);
  });

  test("when the owner's account is disabled: they are switched off, and a member can switch them on", async () => {
    const member = { user_id: "usr-2", rights: ["see" as const, "settings" as const, "players" as const] };
    fixture.sharing.set("survival", { owner_id: "usr-1", members: [member] });
    const { webhook } = await create();
    const before = fixture.receivers[0].received.length;
    fixture.disabled.add("usr-1");
    await joined("Ada");
    await until(async () => (await list()).webhooks[0]?.off_reason === "access_ended");
    assert.equal(fixture.receivers[0].received.length, before);
    await hurry(webhook, helper);
    await until(() => fixture.receivers[0].received.length === before + 1);
    fixture.disabled.clear();
  });
});
