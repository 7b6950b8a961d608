// Webhooks as receivers meet them (docs/reference/webhooks.md), with PostgreSQL, NATS and HTTP servers.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { verifyWebhook } from "@svc/client/verify";
import { testProgram } from "@svc/config/test-program";
import { until } from "@svc/local-stack/testing";
import { faultOf, staff } from "@svc/mesh/testing";
import { backups, builds, servers, webhooks } from "@svc/proto";
import { createWatchdogDatabase } from "../testing/fixture.ts";
import { startWebhookFixture, type WebhookFixture } from "../testing/webhook-fixture.ts";
import { createWebhookOperations, owner } from "../testing/webhook-operations.ts";
import { finding } from "../watchdog/finding.ts";
import { observe } from "../watchdog/observe.ts";
import { openStateFile } from "../watchdog/state-file.ts";

let fixture: WebhookFixture;
const { reset, create, list, deliveries, joined, namesAt, hurry } = createWebhookOperations(() => fixture);
before(async () => {
  fixture = await startWebhookFixture();
});
after(() => fixture?.stop());
beforeEach(reset);

describe("a receiver", () => {
  test("gets what happened, signed, in order, and each event once", async () => {
    const { webhook, secret = "" } = await create();
    await joined("Ada", "survival", "same");
    await joined("Ada", "survival", "same");
    await joined("Bo");
    await fixture.publish(servers.serverPhaseChanged, {
      ...{
        name: "survival",
        from: "Starting" as const,
        to: "Running" as const,
        reason: "R",
        at: new Date().toISOString(),
      },
    });
    const [first] = fixture.receivers;
    await until(() => first.received.length === 3);
    const bodies = first.received.map(({ body }) => JSON.parse(body));
    assert.deepEqual(
      bodies.map(({ type }) => type),
      ["player.joined", "player.joined", "server.ready"],
    );
    assert.deepEqual([bodies[0].server, bodies[0].data.player_name], ["survival", "Ada"]);
    for (const { headers, body } of first.received) {
      const [timestamp, signature] = [String(headers["svc-timestamp"]), String(headers["svc-signature"])];
      assert.equal(await verifyWebhook({ body, timestamp, signature, secret }), true);
      assert.equal(headers["svc-attempt"], "1");
    }
    await until(async () => (await deliveries(webhook.id)).every(({ state }) => state === "delivered"));
    assert.deepEqual(
      (await deliveries(webhook.id)).map(({ id }) => id).reverse(),
      first.received.map(({ headers }) => headers["svc-delivery"]),
    );
  });

  test("gets both signatures after a rotation", async () => {
    const { webhook, secret: old = "" } = await create();
    const { secret } = await fixture.gateway.call(
      webhooks.rotate,
      { name: "survival", id: webhook.id },
      owner,
    );
    await fixture.gateway.call(webhooks.test, { name: "survival", id: webhook.id }, owner);
    const [first] = fixture.receivers;
    await until(() => first.received.length === 1);
    const [sent] = first.received;
    assert.ok(sent);
    const { headers, body } = sent;
    assert.equal(JSON.parse(body).type, "ping");
    const given = {
      body,
      timestamp: String(headers["svc-timestamp"]),
      signature: String(headers["svc-signature"]),
    };
    for (const one of [old, secret]) assert.equal(await verifyWebhook({ ...given, secret: one }), true);
    assert.ok((await list()).webhooks[0]?.old_secret_until);
    const { webhook: chat } = await create({ format: "slack" });
    const which = { name: "survival", id: chat.id };
    assert.equal(await faultOf(fixture.gateway.call(webhooks.rotate, which, owner)), "webhook_unsigned");
    assert.equal(
      await faultOf(fixture.gateway.call(webhooks.test, { ...which, id: webhook.id }, owner)),
      "webhook_test_cooldown",
    );
  });

  test("that fails is tried again while what comes after waits, and another server's events do not", async () => {
    const [first, second] = fixture.receivers;
    first.answer = (response) => response.writeHead(500).end("no\u0000 thanks");
    const { webhook } = await create();
    await create({ name: "creative", url: `${second.url}/x` });
    await joined("Ada");
    await joined("Bo");
    await joined("Cy", "creative");
    await until(async () => (await deliveries(webhook.id)).some(({ error }) => error !== undefined));
    await until(() => second.received.length === 1);
    const [bo, ada] = await deliveries(webhook.id);
    assert.deepEqual([ada?.state, ada?.attempts, ada?.error], ["waiting", 1, "it answered 500"]);
    assert.equal(ada?.failure, "status");
    assert.equal(ada?.response, "no thanks");
    assert.deepEqual([bo?.state, bo?.attempts], ["waiting", 0]);
    first.answer = undefined;
    await hurry(webhook);
    await until(() => first.received.length === 3);
    assert.deepEqual(namesAt(0), ["Ada", "Ada", "Bo"]);
    const [one, again] = first.received.map(({ headers }) => headers);
    assert.deepEqual([one?.["svc-delivery"], again?.["svc-attempt"]], [again?.["svc-delivery"], "2"]);
  });

  test("that is gone is switched off, and the owner is told; redirects are not followed", async () => {
    const [first, second] = fixture.receivers;
    first.answer = (response) => response.writeHead(302, { location: second.url }).end();
    const { webhook } = await create();
    await joined("Ada");
    await until(async () => (await deliveries(webhook.id))[0]?.error !== undefined);
    assert.match((await deliveries(webhook.id))[0]?.error ?? "", /302; redirects are not followed/);
    assert.equal((await deliveries(webhook.id))[0]?.failure, "redirect");
    assert.equal(second.received.length, 0);
    first.answer = (response) => response.writeHead(410).end();
    await hurry(webhook);
    await until(async () => (await list()).webhooks[0]?.off_reason === "gone");
    assert.equal((await deliveries(webhook.id))[0]?.state, "dead");
    const which = { name: "survival", id: webhook.id };
    assert.equal(await faultOf(fixture.gateway.call(webhooks.test, which, owner)), "webhook_off");
    // A replica that starts looks for mails at once.
    const stop = await fixture.startReplica();
    await until(() => fixture.mails.length === 1);
    await stop();
    const facts = { server: "survival", label: "Chat", host: new URL(first.url).host };
    assert.deepEqual(fixture.mails, [{ user_id: "usr-1", kind: "webhook-gone", facts }]);
    await joined("Bo");
    first.answer = undefined;
    await hurry(webhook);
    const dead = (await deliveries(webhook.id))[0];
    const again = { ...which, delivery: dead?.id ?? "" };
    await fixture.gateway.call(webhooks.redeliver, again, owner);
    await until(async () => (await deliveries(webhook.id))[0]?.state === "delivered");
    assert.equal(first.received.at(-1)?.headers["svc-delivery"], dead?.id);
    assert.equal(
      await faultOf(fixture.gateway.call(webhooks.redeliver, { ...which, delivery: "dlv_0" }, owner)),
      "delivery_not_found",
    );
  });

  test("that hangs, or answers without end, holds up nobody else", async () => {
    const [first, second, third] = fixture.receivers;
    first.answer = () => undefined;
    second.answer = (response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write("x".repeat(65_536)), 1);
      response.once("close", () => clearInterval(more));
    };
    const { webhook: hanging } = await create();
    const { webhook: endless } = await create({ url: `${second.url}/x` });
    await create({ url: `${third.url}/x` });
    await joined("Ada");
    await until(() => third.received.length === 1);
    await until(async () => (await deliveries(endless.id))[0]?.state === "delivered");
    assert.equal((await deliveries(endless.id))[0]?.response?.length, 1_024);
    await until(async () => (await deliveries(hanging.id))[0]?.error === "it did not answer in time");
    assert.equal((await deliveries(hanging.id))[0]?.failure, "timeout");
  });

  test("whose name leads inside is not called, whatever it led to before", async () => {
    const { port } = new URL(fixture.receivers[0].url);
    // The second answer would reach the receiver, if it were asked for.
    fixture.names.set("rebind.example", [["198.41.0.4"], ["127.0.0.1"]]);
    fixture.names.set("inside.example", [["8.8.8.8", "127.0.0.1"]]);
    const own = { url: "https://inside.example/" };
    const { webhook } = await create(own);
    await fixture.sql("update ops_watchdog.webhooks set url = $1", [`https://inside.example:${port}/`]);
    await joined("Ada");
    await until(async () => (await deliveries(webhook.id))[0]?.error !== undefined);
    assert.match((await deliveries(webhook.id))[0]?.error ?? "", /The port must be 443/);
    assert.equal((await deliveries(webhook.id))[0]?.failure, "bad_url");
    await fixture.sql("update ops_watchdog.webhooks set url = $1", ["https://inside.example/"]);
    await hurry(webhook);
    await until(async () => (await deliveries(webhook.id))[0]?.failure === "private_address");
    await fixture.sql("update ops_watchdog.webhooks set url = $1", ["https://rebind.example/"]);
    await hurry(webhook);
    await until(async () => (await deliveries(webhook.id))[0]?.attempts === 3);
    await until(async () => !/private/.test((await deliveries(webhook.id))[0]?.error ?? "private"));
    assert.deepEqual(fixture.names.get("rebind.example"), [["127.0.0.1"]], "it was asked for once");
    assert.equal(fixture.receivers[0].received.length, 0);
  });
});

describe("when something is down", () => {
  test("deliveries wait for lifecycle, without an attempt", async () => {
    const { webhook } = await create();
    fixture.isLifecycleAway = true;
    await joined("Ada");
    const row = async () =>
      (
        await fixture.sql(
          "select attempts, lease, due_at > now() as later from ops_watchdog.webhook_deliveries",
        )
      )[0];
    await until(async () => (await row())?.["later"] === true && (await row())?.["lease"] === null);
    assert.equal((await row())?.["attempts"], 0);
    fixture.isLifecycleAway = false;
    await hurry(webhook);
    await until(() => fixture.receivers[0].received.length === 1);
  });

  test("events wait for the database, in order", async () => {
    await create();
    await fixture.wire.cut();
    for (const name of ["Ada", "Bo", "Cy"]) await joined(name);
    await fixture.wire.recover();
    await until(() => fixture.receivers[0].received.length === 3, 30_000);
    assert.deepEqual(namesAt(0), ["Ada", "Bo", "Cy"]);
  });

  test("a process that is killed before it wrote that it had sent sends again, with the same id", async () => {
    const [, , third] = fixture.receivers;
    const database = await createWatchdogDatabase();
    const sender = (killAt: string) =>
      spawn(process.execPath, [testProgram(join(import.meta.dirname, "../testing/webhook-sender-main.ts"))], {
        env: {
          ...process.env,
          ...{ SVC_DATABASE_URL: database.url, SVC_TEST_RECEIVER: third.url, SVC_TEST_KILL_AT: killAt },
        },
        stdio: ["ignore", "inherit", "inherit"],
      });
    const row = async () =>
      (await database.admin("select state, attempts, lease from ops_watchdog.webhook_deliveries"))[0];
    try {
      await database.admin(
        `insert into ops_watchdog.webhooks (id, label, format, url, host, language, events, saved_by, saved_by_name)
         values ('whk-1', 'x', 'slack', $1, 'x', 'en', '{server.ready}', 'u', 'u')`,
        [`${third.url}/x`],
      );
      await database.admin(
        `insert into ops_watchdog.webhook_deliveries (id, webhook_id, event_id, type, lane, data, at)
         values ('dlv_1', 'whk-1', 'evt_1', 'ping', 'x', '{}', now())`,
      );
      for (const [step, sent] of [
        ["picked", 0],
        ["sent", 1],
      ] as const) {
        await once(sender(step), "exit");
        assert.equal(third.received.length, sent);
        assert.deepEqual([(await row())?.["state"], (await row())?.["attempts"]], ["waiting", sent + 1]);
        await database.admin("update ops_watchdog.webhook_deliveries set lease_until = now()");
      }
      const last = sender("");
      await until(async () => (await row())?.["state"] === "delivered", 20_000);
      last.kill("SIGKILL");
      await once(last, "exit");
      assert.deepEqual(
        third.received.map(({ headers }) => [headers["svc-delivery"], headers["svc-attempt"]]),
        [
          ["dlv_1", "2"],
          ["dlv_1", "3"],
        ],
      );
    } finally {
      await database.drop();
    }
  });

  test("two replicas send each delivery once", async () => {
    const stop = await fixture.startReplica();
    try {
      const { webhook } = await create();
      const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
      for (const name of names) await joined(name);
      await until(
        async () => (await deliveries(webhook.id)).filter(({ state }) => state === "delivered").length === 30,
      );
      assert.deepEqual(namesAt(0), names);
    } finally {
      await stop();
    }
  });
});

test("the oldest of more than a thousand are dropped, and it is said", async () => {
  const { webhook } = await create();
  await fixture.sql(
    `insert into ops_watchdog.webhook_deliveries (id, webhook_id, event_id, type, server_name, lane, data, at, due_at)
     select 'dlv_' || n, $1, 'evt_' || n, 'player.joined', 'survival', 'survival', '{}', now(), now() + interval '1 hour'
     from generate_series(1, 1000) n`,
    [webhook.id],
  );
  await joined("Ada");
  await until(async () => {
    const query = { name: "survival", id: webhook.id, state: "dropped", limit: 10, offset: 0 } as const;
    const { deliveries: dropped, total } = await fixture.gateway.call(webhooks.listDeliveries, query, owner);
    return total === 1 && dropped[0]?.id === "dlv_1";
  });
});

test("the installation's webhooks get events of all servers, backups and alerts", async () => {
  const { webhook } = await fixture.gateway.call(
    webhooks.createPlatform,
    {
      ...{ label: "Ops", format: "slack", language: "en" },
      url: `${fixture.receivers[1].url}/ops`,
      events: ["backup.failed", "build.failed", "alert.firing", "alert.resolved"],
    },
    staff,
  );
  await fixture.publish(backups.backupFailed, {
    ...{ server_name: "anything", job: "j", message: "no space", at: new Date().toISOString() },
  });
  const ended = { image_ref: "registry/x:1", requested_by: "u", at: new Date().toISOString() };
  await fixture.publish(builds.buildEnded, { ...ended, id: "b1", outcome: "succeeded" });
  await fixture.publish(builds.buildEnded, {
    ...{ ...ended, id: "b2", outcome: "failed" as const, cause: "no space" },
    display_name: "<!channel> Skyblock",
  });
  const now = Date.now() + 1_000;
  const file = openStateFile({ ...fixture.state, now: () => now });
  const wrong = finding(
    { key: "x/1", severity: "critical", hint: { en: "Mend it.", zh: "请修复。" } },
    { en: "It is wrong.", zh: "有问题。" },
  );
  await file.update((state) => observe(state, { findings: [wrong], unknown: [] }, now));
  const [, second] = fixture.receivers;
  await until(() => second.received.length === 3);
  assert.deepEqual(second.received.map(({ body }) => JSON.parse(body).text).sort(), [
    "🔴 A backup of anything failed: no space",
    "🔴 Alert: It is wrong.",
    "🔴 The build of &lt;!channel&gt; Skyblock failed: no space",
  ]);
  const { webhooks: shown } = await fixture.gateway.call(webhooks.listPlatform, {}, staff);
  assert.deepEqual([shown[0]?.id, shown[0]?.last_attempt?.ok], [webhook.id, true]);
});
