// The heartbeat and the channels of whole runs, against a real receiver and SMTP server.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import {
  type Options,
  seeing,
  seeingNothing,
  startWatchdogFixture,
  type WatchdogFixture,
} from "../../testing/watchdog-fixture.ts";
import { readStatus, sendTests } from "../operate.ts";
import { type RunDeps, runOnce } from "../run.ts";
import { sign } from "./channel.ts";

const minute = 60_000;
let fixture: WatchdogFixture;
before(async () => {
  fixture = await startWatchdogFixture();
});
after(() => fixture?.stop());
beforeEach(() => fixture.next());

const runDeps = (options?: Options): RunDeps => fixture.runDeps(options);
const run = (deps: RunDeps) => runOnce(deps, { dryRun: false });

describe("the heartbeat", () => {
  const beating = (url: string) => {
    const file = join(fixture.dir(), "heartbeat");
    writeFileSync(file, `${url}\n`, { mode: 0o600 });
    return [`ops_watchdog.heartbeat_url_file=${file}`];
  };
  const requests = () => fixture.receiver.received.map(({ method, url }) => `${method} ${url}`);

  test("is a GET after a good run, and a POST with the reason when an alert reaches nobody", async () => {
    const set = beating(`${fixture.receiver.url}/ping/secret`);
    assert.equal((await run(runDeps({ set, probes: [seeing("x/1")] }))).heartbeat, "good");
    assert.equal(
      (await run(runDeps({ set, probes: [seeing("x/1"), seeing("x/2")], away: "smtp" }))).heartbeat,
      "fail",
    );
    assert.deepEqual(requests(), ["GET /ping/secret", "POST /ping/secret/fail"]);
    assert.match(fixture.receiver.received[1]?.body ?? "", /reach nobody: x\/2[\s\S]*x\/2: x\/2 is wrong\./);
  });

  test("of an address with a query has no failures, and its secret is never shown", async () => {
    const set = beating(`${fixture.receiver.url}/ping?key=secret`);
    assert.equal((await run(runDeps({ set, probes: [seeing("x/1")], away: "smtp" }))).heartbeat, "off");
    fixture.receiver.status = 500;
    assert.equal((await run(runDeps({ set, probes: [seeingNothing] }))).heartbeat, "unreachable");
    const { heartbeat } = await readStatus(runDeps({ set }));
    assert.match(heartbeat.error ?? "", /^http:\/\/127\.0\.0\.1:\d+ answered 500$/);
    assert.deepEqual(requests(), ["GET /ping?key=secret"]);
  });
});

describe("channels", () => {
  const set = [
    'ops_watchdog.channels=[{name="ops",url_ref="OPS_URL",secret_ref="OPS_KEY"},{name="chat",format="discord",url_ref="CHAT_URL"}]',
  ];
  const env = () => ({
    OPS_URL: `${fixture.receiver.url}/ops`,
    OPS_KEY: "key",
    CHAT_URL: `${fixture.receiver.url}/chat`,
  });

  test("get a signed document, and plain text that mentions nobody", async () => {
    await run(runDeps({ set, env: env(), probes: [seeing("server/@everyone")] }));
    const [ops, chat] = ["/ops", "/chat"].map((path) =>
      fixture.receiver.received.find(({ url }) => url === path),
    );
    assert.ok(ops && chat);
    const timestamp = String(ops.headers["svc-timestamp"]);
    assert.equal(ops.headers["svc-signature"], `sha256=${sign("key", timestamp, ops.body)}`);
    assert.equal(Number(timestamp), Math.floor(fixture.clock.now / 1_000));
    const { type, host, firing } = JSON.parse(ops.body);
    assert.deepEqual([type, host, firing[0].key], ["alerts", "svc.example.org", "server/@everyone"]);
    assert.deepEqual(JSON.parse(chat.body).allowed_mentions, { parse: [] });
    assert.equal(chat.headers["svc-signature"], undefined);
  });

  test("that fail are tried again while mails are not repeated, and a redirect is not followed", async () => {
    fixture.receiver.status = 302;
    const first = await run(runDeps({ set, env: env(), probes: [seeing("x/1")] }));
    assert.deepEqual(
      first.failed.map(({ way }) => way),
      ["channel:ops", "channel:chat"],
    );
    assert.equal(first.delivered.length, 2);
    assert.deepEqual(first.unheard, []);
    fixture.receiver.status = 200;
    fixture.clock.now += 2 * minute;
    const second = await run(runDeps({ set, env: env(), probes: [seeing("x/1")] }));
    assert.deepEqual(second.delivered, ["channel:ops", "channel:chat"]);
    const { channels } = await readStatus(runDeps({ set }));
    assert.deepEqual(
      channels.map(({ name, format, state }) => [name, format, state]),
      [
        ["ops", "json", "ok"],
        ["chat", "discord", "ok"],
      ],
    );
  });

  test("do not reach the inside unless a setting allows it", async () => {
    const strict = [...set, "ops_watchdog.channels_may_be_internal=false"];
    const inside = { OPS_URL: "https://127.0.0.1:1/x", CHAT_URL: "https://localhost:1/x" };
    const { failed } = await run(runDeps({ set: strict, env: inside, probes: [seeing("x/1")] }));
    assert.equal(failed.length, 2);
    for (const { error } of failed) assert.match(error, /private address/);
  });

  test("and recipients get a test at most once a minute", async () => {
    await run(runDeps({ set, env: env(), probes: [seeingNothing] }));
    const deps = runDeps({ set, env: env() });
    assert.deepEqual(await sendTests(deps), [
      { name: "mail", ok: true },
      { name: "ops", ok: true },
      { name: "chat", ok: true },
    ]);
    await assert.rejects(sendTests(deps), { fault: "alert_test_cooldown", retryAfterSeconds: 60 });
    assert.equal(JSON.parse(fixture.receiver.received[0]?.body ?? "{}").type ?? "discord", "test");
    assert.equal(fixture.smtp.mails.length, 2);
  });
});
