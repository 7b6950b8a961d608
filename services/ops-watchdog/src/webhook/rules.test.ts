// The rules of webhooks as tables (docs/reference/webhooks.md).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { verifyWebhook } from "@svc/client/verify";
import {
  backups,
  crashes,
  eventSubject,
  events,
  members,
  ownership,
  players,
  schedules,
  servers,
  webhooks,
} from "@svc/proto";
import { checkUrl, findAddresses } from "./address.ts";
import { printable } from "./attempt.ts";
import { decideNext, mostAttempts, type Next, type Outcome, retryAfterOf, spread } from "./backoff.ts";
import { readAlerts, readMessage } from "./event.ts";
import { failureOf } from "./failure.ts";
import { bodyOf, type Told } from "./message.ts";
import { findRoom, most } from "./room.ts";
import { newSecret, signatureHeaders, validSecrets } from "./signature.ts";

const day = 86_400_000;

describe("what comes after an attempt", () => {
  const answered = (status: number, retryAfterMs?: number): Outcome => ({
    kind: "answered",
    status,
    retryAfterMs,
  });
  const failed: Outcome = { kind: "failed", failure: "refused", error: "x" };
  const waits = (pauseMs: number): Next => ({ state: "waiting", pauseMs });
  const table: [fact: string, outcome: Outcome, attempts: number, failingForMs: number, next: Next][] = [
    ["200 is delivered", answered(200), 1, 0, { state: "delivered" }],
    ["so is any 2xx, after days of failure too", answered(299), 8, 9 * day, { state: "delivered" }],
    ["500 waits 10 s", answered(500), 1, 0, waits(10_000)],
    ["404 waits as well: somebody may be about to mend it", answered(404), 1, 0, waits(10_000)],
    ["a redirect fails", answered(302), 1, 0, waits(10_000)],
    ["no answer fails", failed, 2, 0, waits(60_000)],
    ["the last pause is 14 hours", failed, 7, 0, waits(14 * 3_600_000)],
    ["the eighth attempt is the last", failed, 8, 0, { state: "dead" }],
    ["a number that cannot be is the last too", failed, 9, 0, { state: "dead" }],
    ["410 is dead at once and switches off", answered(410), 1, 0, { state: "dead", turnsOff: "gone" }],
    ["a longer pause is granted", answered(429, 120_000), 1, 0, waits(120_000)],
    ["a shorter one is not", answered(503, 1_000), 2, 0, waits(60_000)],
    ["nor one of more than an hour", answered(503, day), 1, 0, waits(3_600_000)],
    ["three days of failure switch off", failed, 8, 3 * day, { state: "dead", turnsOff: "failing" }],
    [
      "also before the last attempt, which is made when it is switched on again",
      failed,
      1,
      3 * day,
      { state: "waiting", pauseMs: 10_000, turnsOff: "failing" },
    ],
  ];
  for (const [fact, outcome, attempts, failingForMs, next] of table)
    test(fact, () =>
      assert.deepEqual(decideNext(outcome, { attempts, failingForMs, turnOffAfterMs: 3 * day }), next),
    );

  test("eight attempts are made within a day", () => {
    let sum = 0;
    for (let attempts = 1; attempts < mostAttempts; attempts += 1) {
      const next = decideNext(failed, { attempts, failingForMs: 0, turnOffAfterMs: day });
      assert.equal(next.state, "waiting");
      sum += next.state === "waiting" ? spread(next.pauseMs, "dlv_ffffffff") : 0;
    }
    assert.ok(sum > 0.8 * day && sum < 1.1 * day, `${sum / day} days`);
  });
  test("a pause is spread by at most a tenth, always the same for one delivery", () => {
    for (const id of ["", "dlv_1", "dlv_ffff", "z".repeat(64)]) {
      assert.ok(spread(1_000, id) >= 1_000 && spread(1_000, id) <= 1_100);
      assert.equal(spread(1_000, id), spread(1_000, id));
    }
  });
  test("Retry-After counts in seconds only", () => {
    assert.equal(retryAfterOf("120"), 120_000);
    for (const text of [undefined, "", "-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT", "9999999"])
      assert.equal(retryAfterOf(text), undefined);
  });
});

describe("addresses", () => {
  const reach = { ports: [443, 8443], inside: ["http://chat.internal:8065", "https://10.0.0.7"] };
  const open: [url: string, isInside: boolean][] = [
    ["https://example.org/a?b=c", false],
    ["https://example.org:8443/", false],
    ["HTTPS://Example.Org/", false],
    ["https://8.8.8.8/hook", false],
    ["https://[2606:4700::1111]/hook", false],
    ["http://chat.internal:8065/hooks/x", true],
    ["https://10.0.0.7/hook", true],
  ];
  for (const [url, isInside] of open)
    test(`${url} may be called`, () => {
      const checked = checkUrl(url, reach);
      assert.ok("url" in checked);
      assert.equal(checked.isInside, isInside);
    });
  const closed = [
    ...["", "example.org", "//example.org", "ftp://example.org", "javascript:alert(1)", "https://"],
    ...["http://example.org", "https://example.org:22", "https://example.org:80", "https://u:p@example.org"],
    ...["https://u@example.org", "http://chat.internal:8066/x", "https://chat.internal:8065/x"],
    ...["https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f.1/", "https://0/"],
    ...["https://10.1.2.3/", "https://172.16.0.1/", "https://192.168.1.1/", "https://169.254.169.254/"],
    ...["https://100.64.0.1/", "https://198.18.0.1/", "https://224.0.0.1/", "https://255.255.255.255/"],
    ...["https://[::1]/", "https://[::]/", "https://[fe80::1]/", "https://[fd00::1]/", "https://[ff02::1]/"],
    ...["https://[::ffff:127.0.0.1]/", "https://[::ffff:8.8.8.8]/", "https://[64:ff9b::7f00:1]/"],
    ...[
      "https://[64:ff9b:1::1]/",
      "https://[2002:7f00:1::]/",
      "https://[2001::1]/",
      "https://[2001:db8::1]/",
    ],
    ...["https://[::127.0.0.1]/", "https://[100::1]/", "https://[3fff::1]/", "https://[fec0::1]/"],
  ];
  for (const url of closed)
    test(`${url || "nothing"} may not be saved`, () => assert.ok("problem" in checkUrl(url, reach)));

  const lead = (...found: string[]) => {
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return found;
    };
    const signal = new AbortController().signal;
    const target = { url: new URL("https://example.org/"), isInside: false };
    return { asked, addresses: findAddresses(target, { resolve, signal }) };
  };
  test("a name is asked for once, and all its addresses must be public", async () => {
    const good = lead("8.8.8.8", "2606:4700::1111");
    assert.deepEqual(await good.addresses, [
      { address: "8.8.8.8", family: 4 },
      { address: "2606:4700::1111", family: 6 },
    ]);
    assert.deepEqual(good.asked, ["example.org"]);
    for (const inside of ["127.0.0.1", "10.0.0.1", "::1", "::ffff:10.0.0.1", "fd00::1", "64:ff9b::a00:1"]) {
      await assert.rejects(lead(inside).addresses, /private address/);
      await assert.rejects(lead("8.8.8.8", inside).addresses, /private address/);
    }
    await assert.rejects(lead().addresses, /no address/);
  });
  test("an inside address is refused at the connection as well", async () => {
    const target = { url: new URL("https://127.0.0.1/"), isInside: false };
    const signal = new AbortController().signal;
    await assert.rejects(findAddresses(target, { resolve: async () => [], signal }), /private/);
  });
});

describe("signatures", () => {
  const now = Date.parse("2026-11-24T03:00:00Z");
  const [one, two, other] = [newSecret(), newSecret(), newSecret()];
  const row = { secret: two, old_secret: one, old_secret_until: new Date(now + 1_000) };
  const body = '{"a":"ä"}';
  const headers = signatureHeaders(body, { secrets: validSecrets(row, now), now });
  const check = (more: Partial<Parameters<typeof verifyWebhook>[0]>) =>
    verifyWebhook({
      ...{ body, secret: two, now },
      timestamp: headers["svc-timestamp"],
      signature: headers["svc-signature"],
      ...more,
    });

  test("are made with both secrets until the one before ends", () => {
    assert.match(headers["svc-signature"] ?? "", /^sha256=[0-9a-f]{64},sha256=[0-9a-f]{64}$/);
    assert.deepEqual(validSecrets(row, now), [two, one]);
    assert.deepEqual(validSecrets(row, now + 1_000), [two]);
    assert.deepEqual(validSecrets({ ...row, secret: null }, now), []);
    assert.deepEqual(signatureHeaders(body, { secrets: [], now }), {});
  });
  test("are verified by the published client, as text and as bytes", async () => {
    for (const secret of [one, two]) assert.equal(await check({ secret }), true);
    assert.equal(await check({ body: Buffer.from(body) }), true);
  });
  const wrong: [fact: string, more: Parameters<typeof check>[0]][] = [
    ["another secret", { secret: other }],
    ["another body", { body: `${body} ` }],
    ["another time", { timestamp: String(now / 1_000 + 1) }],
    ["an old one", { now: now + 301_000 }],
    ["one from the future", { now: now - 301_000 }],
    ["none", { signature: "" }],
    ["none at all", { signature: undefined, timestamp: null }],
    ["no number", { timestamp: "now" }],
    ["half of one", { signature: "sha256=abcd" }],
    ["one behind too many", { signature: `${"sha256=00,".repeat(9)}${headers["svc-signature"]}` }],
  ];
  for (const [fact, more] of wrong)
    test(`${fact} is refused`, async () => assert.equal(await check(more), false));
});

describe("messages", () => {
  const told = (type: webhooks.WebhookEventType, data: Record<string, unknown>): Told => ({
    ...{ event_id: "evt_1", type, server_name: "survival", at: new Date(0), data },
  });
  const as = (format: webhooks.WebhookFormat, language: "en" | "zh" = "en") => ({
    ...{ format, language, installation: "svc.example.org" },
  });
  test("in JSON say what happened, where and when", () => {
    assert.deepEqual(JSON.parse(bodyOf(told("server.ready", { reason: "RconReached" }), as("json"))), {
      ...{ id: "evt_1", type: "server.ready", at: "1970-01-01T00:00:00.000Z" },
      ...{ installation: "svc.example.org", server: "survival", data: { reason: "RconReached" } },
    });
    const ping = { ...told("ping", {}), server_name: null };
    assert.equal("server" in JSON.parse(bodyOf(ping, as("json"))), false);
  });
  test("to Discord mention and format nothing", () => {
    const body = JSON.parse(
      bodyOf(told("player.joined", { player_name: "@everyone **x** [a](https://b)" }), as("discord")),
    );
    assert.deepEqual(body.allowed_mentions, { parse: [] });
    assert.equal(body.content, "➡️ @everyone \\*\\*x\\*\\* \\[a\\]\\(https://b\\) joined survival.");
  });
  test("to Slack have no links, mentions and lines of others", () => {
    const { text } = JSON.parse(
      bodyOf(told("backup.failed", { message: "<!channel> & <https://x|y>\nnext" }), as("slack")),
    );
    assert.equal(text, "🔴 A backup of survival failed: &lt;!channel&gt; &amp; &lt;https://x|y&gt; next");
  });
  test("are in Chinese where that is chosen", () => {
    const { content } = JSON.parse(bodyOf(told("server.stopped", {}), as("discord", "zh")));
    assert.match(content, /survival 已停止/);
  });
  test("exist for every event in both languages, without a value that is missing", () => {
    const data = {
      reason: "r",
      cause: "c",
      player_name: "p",
      message: "m",
      action: "a",
      result: "failed",
      name: "n",
    };
    for (const type of webhooks.WebhookEventType.options)
      for (const language of ["en", "zh"] as const) {
        const summary = { en: "It is wrong.", zh: "有问题。" };
        const { text } = JSON.parse(bodyOf(told(type, { ...data, summary }), as("slack", language)));
        assert.doesNotMatch(text, /[{}]|undefined/, type);
      }
  });
  test("an answer is shown without what could change what people read", () => {
    assert.equal(printable(Buffer.from("a\u0000b\u001b[31m\u202ec\n\td\r")), "ab[31mc\n\td");
    assert.equal(printable(Buffer.alloc(4_096, "x")).length, 1_024);
    assert.equal(printable(Buffer.from([0xff, 0x41])), "A");
  });
  test("a failure is said without addresses of machines", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 8.8.8.8:443"), { code: "ECONNREFUSED" });
    const coded = (code: string, message = "1.2.3.4") => Object.assign(new Error(message), { code });
    const rows: [error: Error, code: string, words: RegExp][] = [
      [refused, "refused", /^it refuses connections$/],
      [new AggregateError([refused]), "refused", /^it refuses connections$/],
      [coded("EPROTO", "tlsv1 alert protocol version"), "tls_version", /^it speaks no TLS of version 1.2/],
      [coded("ECONNRESET"), "closed", /^it closed the connection$/],
      [coded("CERT_HAS_EXPIRED"), "certificate_expired", /^its certificate has expired$/],
      [coded("CERT_REVOKED"), "certificate_invalid", /not valid \(CERT_REVOKED\)$/],
      [coded("EX"), "connection", /^the connection failed \(EX\)$/],
      [new Error("anything"), "connection", /^anything$/],
    ];
    for (const [given, code, words] of rows) {
      const { failure, error } = failureOf(given);
      assert.equal(failure, code);
      assert.match(error, words);
    }
  });
});

describe("events", () => {
  const phase = (from: string, to: string) => ({ name: "one", from, to, reason: "R", at: at });
  const at = "2026-01-01T00:00:00.000Z";
  const server = { name: "one", at };
  const stored = { server_name: "one", at, job: "j" };
  const run = { ...server, id: 1, action: "backup", detail: "" };
  const table: [fact: string, contract: { subject: string }, body: unknown, type: string | undefined][] = [
    ["a start", servers.serverPhaseChanged, phase("Stopped", "Starting"), "server.starting"],
    ["a server that can be joined", servers.serverPhaseChanged, phase("Starting", "Running"), "server.ready"],
    ["a stop", servers.serverPhaseChanged, phase("Stopping", "Stopped"), "server.stopped"],
    ["a failure", servers.serverPhaseChanged, phase("Starting", "Failed"), "server.failed"],
    ["stopping is nothing", servers.serverPhaseChanged, phase("Running", "Stopping"), undefined],
    ["a lost connection is no start", servers.serverPhaseChanged, phase("Running", "Starting"), undefined],
    ["a new server has not stopped", servers.serverPhaseChanged, phase("Unknown", "Stopped"), undefined],
    ["a player", players.playerJoined, { ...server, mc_uuid: "u" }, "player.joined"],
    ["a player who left", players.playerLeft, { ...server, mc_uuid: "u" }, "player.left"],
    ["a crash", crashes.crashed, { ...server, id: "c", cause: "eula" }, "server.crashed"],
    ["a hang", crashes.crashed, { ...server, id: "c", cause: "hung" }, "server.hung"],
    ["a run that failed", schedules.runFinished, { ...run, result: "failed" }, "schedule.failed"],
    ["a run that was missed", schedules.runFinished, { ...run, result: "missed" }, "schedule.failed"],
    ["a run that went well is nothing", schedules.runFinished, { ...run, result: "ok" }, undefined],
    [
      "a backup",
      backups.backupMade,
      { ...stored, id: "b", reason: "manual", size_bytes: 1 },
      "backup.succeeded",
    ],
    ["a backup that failed", backups.backupFailed, { ...stored, message: "m" }, "backup.failed"],
    ["a restore", backups.worldRestored, { ...stored, backup_id: "b" }, "restore.succeeded"],
    [
      "a restore that failed",
      backups.restoreFailed,
      { ...stored, backup_id: "b", message: "m" },
      "restore.failed",
    ],
    ["another event is nothing", members.accessChanged, server, undefined],
  ];
  for (const [fact, { subject }, body, type] of table)
    test(fact, () => {
      const { tell } = readMessage(`svc.evt.${subject}.one`, body);
      assert.equal(tell?.type, type);
      if (type !== undefined) assert.deepEqual([tell?.server, tell?.at], ["one", new Date(at)]);
    });
  test("whatever changes the owner is seen", () => {
    const change = { ...server, user_id: "u", from_user_id: "u", to_user_id: "v" };
    for (const { subject } of [ownership.serverClaimed, ownership.serverTransferred])
      assert.deepEqual(readMessage(`svc.evt.${subject}.one`, change).ownerChanged, {
        ...{ server: "one", at: new Date(at) },
      });
  });
  test("every sample of an event that is consumed can be read", () => {
    for (const event of events) readMessage(eventSubject(event, event.sample), event.sample);
  });
  test("of alerts come from their history, each with an id of its own that stays", () => {
    const summary = { en: "It is wrong.", zh: "有问题。" };
    const one = { at: 1, key: "nats", severity: "critical", summary };
    const history = ["fired", "escalated", "resolved", "reminded", "silenced"].map((what) => ({
      ...one,
      what,
    }));
    const read = readAlerts([...history, { at: 1, what: "fired" }]);
    assert.deepEqual(
      read.map(({ type }) => type),
      ["alert.firing", "alert.firing", "alert.resolved"],
    );
    assert.equal(new Set(read.map(({ id }) => id)).size, 3);
    assert.deepEqual(readAlerts(history), read);
  });
});

describe("room for attempts", () => {
  const many = (count: number, host: string, owner: string) =>
    Array.from({ length: count }, () => ({ host, owner }));
  test("is bounded in all, for a host and for an owner", () => {
    assert.deepEqual(findRoom([]), { free: most.all, fullHosts: [], fullOwners: [] });
    assert.deepEqual(findRoom(many(most.ofOwner, "a", "one")).fullOwners, ["one"]);
    assert.deepEqual(findRoom(many(most.ofOwner - 1, "a", "one")).fullOwners, []);
    const hosts = Array.from({ length: most.ofHost }, (_, index) => ({ host: "a", owner: `u${index}` }));
    assert.deepEqual(findRoom(hosts).fullHosts, ["a"]);
    assert.equal(findRoom(many(most.all + 3, "a", "one")).free, 0);
  });
});
