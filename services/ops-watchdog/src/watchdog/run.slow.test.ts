// Whole runs on a real PostgreSQL, nats-server and SMTP server, with each of them away.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { readHostId } from "../offsite/host-id.ts";
import {
  type Options,
  seeing,
  seeingNothing,
  startWatchdogFixture,
  type WatchdogFixture,
} from "../testing/watchdog-fixture.ts";
import { readStatus, silence } from "./operate.ts";
import { offsite } from "./probe/offsite.ts";
import { identity as probeOfIdentity } from "./probe/owners.ts";
import type { Probe } from "./probe/probe.ts";
import { webhooks } from "./probe/webhooks.ts";
import { type RunDeps, type RunReport, recordFailedRun, runOnce } from "./run.ts";

const minute = 60_000;
let fixture: WatchdogFixture;
before(async () => {
  fixture = await startWatchdogFixture();
});
after(() => fixture?.stop());
beforeEach(() => fixture.next());

const runDeps = (options?: Options): RunDeps => fixture.runDeps(options);
const keysOf = ({ findings }: RunReport) => findings.map(({ key }) => key).sort();
const prefixesOf = ({ unknown }: RunReport) => unknown.map(({ prefix }) => prefix);
const unconfiguredOf = ({ unknown }: RunReport) =>
  unknown.flatMap(({ prefix, configured = true }) => (configured ? [] : [prefix]));
const run = (deps: RunDeps) => runOnce(deps, { dryRun: false });
const insertPass = (state: string, report: object) =>
  fixture.database.admin(
    `insert into ops_watchdog.offsite_passes (state, finished_at, report)
     values ('${state}', now(), '${JSON.stringify(report)}')`,
  );

describe("every probe", () => {
  // What a fresh installation without a bundle, a report and a cluster is.
  const usual = ["db-backup/stale", "update-report"];
  const isOfMachine = (key: string) => /^(disk|memory|clock)/.test(key);
  const judged = async (options: Options = {}) => {
    const report = await run(runDeps(options));
    return {
      keys: keysOf(report).filter((key) => !isOfMachine(key)),
      unknown: prefixesOf(report),
      unconfigured: unconfiguredOf(report),
    };
  };

  test("judges what it can where there is no cluster, and says what it cannot", async () => {
    const { keys, unknown, unconfigured } = await judged();
    assert.deepEqual(keys, usual);
    for (const prefix of [
      "cluster",
      "node/",
      "server/",
      "game-port",
      "certificate/",
      "offsite/",
      "audit-writes/",
    ])
      assert.ok(unknown.includes(prefix), prefix);
    // The kubeconfig of the fixture is set and names no file: that is a failure.
    assert.deepEqual(unconfigured.toSorted(), ["audit-writes/", "certificate/", "game-port", "offsite/"]);
    for (const prefix of ["nats", "postgresql", "world-job/", "builds/", "mail-relay", "db-rehearsal/"])
      assert.ok(!unknown.includes(prefix), prefix);
  });

  test("does without NATS: services are asked at their health ports", async () => {
    const set = [`ops_watchdog.health_urls=["storage=${fixture.receiver.url}","builds=http://127.0.0.1:1"]`];
    fixture.receiver.status = 200;
    const { keys, unknown } = await judged({ away: "nats", set });
    assert.deepEqual(keys, [...usual, "nats", "service/builds"].sort());
    for (const prefix of ["service/identity", "world-job/", "builds/", "mail-budget"])
      assert.ok(unknown.includes(prefix), prefix);
  });

  test("does without PostgreSQL", async () => {
    const { keys, unknown, unconfigured } = await judged({ away: "postgresql" });
    assert.deepEqual(keys, ["db-backup/stale", "postgresql"]);
    for (const prefix of ["db-rehearsal/", "update-report", "webhook/off/", "clock"])
      assert.ok(unknown.includes(prefix) && !unconfigured.includes(prefix), prefix);
  });

  test("does without the mail relay", async () => {
    assert.deepEqual((await judged({ away: "smtp" })).keys, [...usual, "mail-relay"].sort());
  });

  test("does without identity: its service is missing, its facts are unknown", async () => {
    const { keys, unknown } = await judged({
      set: ['ops_watchdog.expected_services=["storage","lifecycle"]'],
    });
    assert.deepEqual(keys, [...usual, "service/lifecycle"].sort());
    assert.ok(!unknown.includes("mail-budget"));
  });

  test("judges what it can while one dependency accepts connections and never answers", async () => {
    fixture.identity.isSilent = true;
    const known = { address: "ada@example.org", language: "en" } as const;
    const silent = async (what: NonNullable<Options["silent"]>) =>
      [what, await judged({ silent: what, beside: what })] as const;
    const telling = runDeps({ beside: "identity", probes: [probeOfIdentity, seeing("x/1")] });
    await telling.file.update((state) => ({ ...state, recipients: [known] }));
    const [told, ...reports] = await Promise.all([
      run(telling),
      ...(["nats", "postgresql", "cluster", "smtp"] as const).map(silent),
    ]);
    const expected: Record<string, { finds: string; unknown: string[] }> = {
      nats: { finds: "nats", unknown: ["service/storage", "world-job/", "builds/", "mail-budget"] },
      postgresql: { finds: "postgresql", unknown: ["db-rehearsal/", "update-report", "clock"] },
      cluster: { finds: "cluster", unknown: ["node/", "server/", "system-server/"] },
      smtp: { finds: "mail-relay", unknown: [] },
    };
    for (const [what, { keys, unknown }] of reports) {
      const { finds, unknown: blind } = expected[what ?? ""] ?? { finds: "", unknown: [] };
      const others = what === "postgresql" ? ["db-backup/stale"] : usual;
      assert.deepEqual(keys, [...others, finds].sort(), what);
      for (const prefix of blind) assert.ok(unknown.includes(prefix), `${what}: ${prefix}`);
      assert.ok(!unknown.includes(finds), what);
    }
    assert.deepEqual([keysOf(told), prefixesOf(told)], [["x/1"], ["mail-budget", "mail-queue"]]);
    assert.deepEqual(told.delivered, ["mail:ada@example.org"]);
  });

  test("that hangs or fails takes nobody with it", async () => {
    const hanging: Probe = { prefixes: ["hangs/"], withinMs: 50, look: () => new Promise(() => undefined) };
    const failing: Probe = {
      prefixes: ["fails/", "too/"],
      look: () => {
        throw new Error("no such thing\nat all");
      },
    };
    const report = await run(runDeps({ probes: [hanging, failing, seeing("x")] }));
    assert.deepEqual(keysOf(report), ["x"]);
    assert.deepEqual(report.unknown, [
      { prefix: "hangs/", reason: "no answer within 0.05 s" },
      { prefix: "fails/", reason: "no such thing" },
      { prefix: "too/", reason: "no such thing" },
    ]);
  });
});

describe("a run", () => {
  test("mails each owner in their language, once, and its end after ten minutes", async () => {
    assert.deepEqual((await run(runDeps({ probes: [seeing("x/1", "critical")] }))).delivered.sort(), [
      "mail:ada@example.org",
      "mail:li@example.org",
    ]);
    assert.deepEqual((await run(runDeps({ probes: [seeing("x/1", "critical")] }))).delivered, []);
    assert.deepEqual(fixture.smtp.mails.map(({ to }) => to).sort(), ["ada@example.org", "li@example.org"]);
    const english = fixture.smtp.mails.find(({ to }) => to === "ada@example.org");
    assert.equal(english?.subject, "svc critical alert (svc.example.org): 1 firing, 0 resolved");
    assert.match(english?.source ?? "", /\[critical\] x\/1 is wrong\.\r\n/);
    fixture.clock.now += minute;
    await run(runDeps({ probes: [seeingNothing] }));
    fixture.clock.now += 10 * minute;
    await run(runDeps({ probes: [seeingNothing] }));
    assert.equal(fixture.smtp.mails.length, 4);
    assert.match(
      fixture.smtp.mails.find(({ subject }) => /^svc resolved/.test(subject))?.subject ?? "",
      /0 firing, 1 resolved/,
    );
    const status = await readStatus(runDeps());
    assert.deepEqual([status.alerts, status.resolved.map(({ key }) => key)], [[], ["x/1"]]);
    assert.equal(status.mail.state, "ok");
  });

  test("mails that a webhook of the installation was switched off, until it is on again", async () => {
    await fixture.database.admin(
      `insert into ops_watchdog.webhooks (id, label, format, url, host, language, events, saved_by,
         saved_by_name, server_name, owner_id, enabled, off_reason)
       select id, 'Ops', 'slack', 'https://x/secret', 'chat.example.net', 'en', '{}', 'u', 'u', server, server, false, reason
       from (values ('whk-1', null, 'failing'), ('whk-2', null, 'by_hand'), ('whk-3', 'survival', 'gone'))
         as given (id, server, reason)`,
    );
    const runOf = () => run(runDeps({ probes: [webhooks] }));
    assert.deepEqual([keysOf(await runOf()), fixture.smtp.mails.length], [["webhook/off/whk-1"], 2]);
    const [english] = fixture.smtp.mails.filter(({ to }) => to === "ada@example.org");
    assert.match(english?.source ?? "", /webhook Ops is switched off: nothing has arrived/);
    assert.doesNotMatch(english?.source ?? "", /secret/);
    await fixture.database.admin("update ops_watchdog.webhooks set enabled = true, off_reason = null");
    for (const minutes of [1, 10]) {
      fixture.clock.now += minutes * minute;
      assert.deepEqual(keysOf(await runOf()), []);
    }
    assert.equal(fixture.smtp.mails.length, 4);
    await fixture.database.admin("delete from ops_watchdog.webhooks");
  });

  test("knows its recipients when NATS is away, and says when it has none", async () => {
    const alone = await run(runDeps({ away: "nats", probes: [seeing("x/1")] }));
    assert.deepEqual([alone.delivered, alone.unheard], [[], ["x/1"]]);
    await run(runDeps({ probes: [seeing("x/1")] }));
    assert.equal(fixture.smtp.mails.length, 2);
    const later = await run(runDeps({ away: "nats", probes: [seeing("x/1"), seeing("x/2")] }));
    assert.equal(later.delivered.length, 2);
  });

  test("sends again what the relay refused, to who missed it", async () => {
    fixture.smtp.refuseWith = "no such mailbox";
    const refused = await run(runDeps({ probes: [seeing("x/1")] }));
    assert.equal(refused.failed.length, 2);
    assert.deepEqual(refused.unheard, ["x/1"]);
    assert.match((await readStatus(runDeps())).mail.error ?? "", /no such mailbox/);
    fixture.smtp.refuseWith = undefined;
    fixture.clock.now += 2 * minute;
    assert.equal((await run(runDeps({ probes: [seeing("x/1")] }))).delivered.length, 2);
    assert.equal(fixture.smtp.mails.length, 2);
  });

  test("tells its channels although the relay accepts connections and never answers", async () => {
    const set = [
      "ops_watchdog.watch_mail_timeout=300ms",
      'ops_watchdog.channels=[{name="ops",url_ref="OPS_URL"}]',
    ];
    const env = { OPS_URL: `${fixture.receiver.url}/ops` };
    const report = await run(runDeps({ silent: "smtp", set, env, probes: [seeing("x/1")] }));
    assert.deepEqual(report.delivered, ["channel:ops"]);
    assert.deepEqual(report.failed.map(({ way }) => way).sort(), [
      "mail:ada@example.org",
      "mail:li@example.org",
    ]);
    assert.deepEqual([report.unheard, report.state], [[], "saved"]);
  });

  test("sends nothing while another installation writes off-site, but that it was displaced", async () => {
    const set = ["offsite.bucket=copies", `offsite.state_dir=${join(fixture.dir(), "offsite")}`];
    const hostId = await readHostId(join(fixture.dir(), "offsite"));
    const deps = () => runDeps({ set, probes: [offsite, seeing("x/1")] });
    const runAfter = async (hours: number, state: string, writer: object) => {
      fixture.clock.now += hours * 60 * minute;
      await insertPass(state, { writer: { name: "other", ...writer } });
      return run(deps());
    };
    const ranAt = () => new Date(fixture.clock.now).toISOString();
    const other = () => ({ host_id: "f".repeat(32), last_run_at: ranAt(), is_this_host: false });
    const copy = await runAfter(0, "standby", other());
    assert.deepEqual([copy.held, copy.delivered, copy.heartbeat, copy.unheard], ["standby", [], "held", []]);
    assert.deepEqual((await readStatus(deps())).mail.state, "held");
    await insertPass("completed", { writer: { ...other(), host_id: hostId, is_this_host: true } });
    const displaced = await runAfter(1, "standby", other());
    assert.deepEqual([displaced.held, displaced.delivered.length], ["standby", 2]);
    const mails = fixture.smtp.mails.splice(0).map(({ source }) => source);
    for (const mail of mails) assert.doesNotMatch(mail, /x\/1/);
    // The writer gives no sign of life, whether the bucket can be read or not.
    fixture.clock.now += 3 * 60 * minute;
    const alone = await runAfter(0, "failed", {});
    assert.deepEqual([alone.held, alone.delivered.length, fixture.smtp.mails.length], [null, 2, 2]);
    const back = await runAfter(0, "completed", { ...other(), is_this_host: true });
    assert.equal(back.held, null);
  });

  test("that is killed between delivery and memory sends again, and never not at all", async () => {
    const script = `
      import { connectMesh } from "@svc/mesh";
      import { loadSettings } from "@svc/config";
      import { settings as schema } from ${JSON.stringify(join(import.meta.dirname, "../config.ts"))};
      import { alertDeps } from ${JSON.stringify(join(import.meta.dirname, "operate.ts"))};
      import { runOnce } from ${JSON.stringify(join(import.meta.dirname, "run.ts"))};
      const settings = loadSettings(schema, { overrides: JSON.parse(process.env.OVERRIDES) });
      const about = JSON.parse(process.env.ALERT);
      await runOnce({
        ...alertDeps(settings, {}, () => ${fixture.clock.now}),
        databaseUrl: "", natsUrl: undefined, kubeconfig: undefined,
        probes: [{ prefixes: ["x"], look: async () => ({ findings: [about] }) }],
        openMesh: () => Promise.reject(new Error("away")),
        step: (name) => { if (name === process.env.STEP) process.kill(process.pid, "SIGKILL"); },
      }, { dryRun: false });`;
    const alert = (await seeing("x/1").look({} as never, AbortSignal.timeout(1_000))).findings[0];
    const overrides = [
      ...[`smtp.host=127.0.0.1`, `smtp.port=${fixture.smtp.port}`, "smtp.from=svc@example.org"],
      `ops_watchdog.state_dir=${join(fixture.dir(), "state")}`,
    ];
    const runKilled = async (step: string) => {
      const env = {
        ...process.env,
        OVERRIDES: JSON.stringify(overrides),
        ALERT: JSON.stringify(alert),
        STEP: step,
      };
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        cwd: import.meta.dirname,
        env,
        stdio: ["ignore", "ignore", "inherit"],
      });
      const [code, signal] = await once(child, "close");
      assert.deepEqual([code, signal], step === "" ? [0, null] : [null, "SIGKILL"]);
    };
    const { file } = runDeps();
    await file.update((state) => ({
      ...state,
      recipients: [{ address: "ada@example.org", language: "en" }],
    }));
    await runKilled("observed");
    assert.equal(fixture.smtp.mails.length, 0);
    await runKilled("delivered");
    assert.equal(fixture.smtp.mails.length, 1);
    await runKilled("");
    await runKilled("");
    assert.equal(fixture.smtp.mails.length, 2);
  });

  test("does nothing at the same time as another, and remembers nothing when it is dry", async () => {
    let isLooking: () => void = () => undefined;
    const looking = new Promise<void>((done) => {
      isLooking = done;
    });
    let resume: () => void = () => undefined;
    const held: Probe = {
      prefixes: ["x"],
      look: async () => {
        isLooking();
        await new Promise<void>((done) => {
          resume = done;
        });
        return { findings: [] };
      },
    };
    const first = run(runDeps({ probes: [held] }));
    await looking;
    await assert.rejects(run(runDeps({ probes: [seeing("x")] })), /another run/);
    const dry = await runOnce(runDeps({ probes: [seeing("x")] }), { dryRun: true });
    assert.deepEqual([dry.state, dry.delivered.length], ["not_written", 2]);
    resume();
    await first;
    assert.deepEqual([fixture.smtp.mails.length, (await readStatus(runDeps())).alerts], [0, []]);
  });

  test("is quiet until the time in the quiet file, and remembers what it saw", async () => {
    const file = join(fixture.dir(), "quiet");
    writeFileSync(file, String(Math.floor(fixture.clock.now / 1_000) + 60));
    const set = [`ops_watchdog.quiet_file=${file}`];
    const report = await run(runDeps({ set, probes: [seeing("x/1")] }));
    assert.deepEqual([report.held, report.heartbeat, fixture.smtp.mails.length], ["quiet_file", "held", 0]);
    fixture.clock.now += minute;
    assert.equal((await run(runDeps({ set, probes: [seeing("x/1")] }))).delivered.length, 2);
  });

  test("that fails is itself an alert after ten minutes, and leaves others as they were", async () => {
    await run(runDeps({ probes: [seeing("x/1")] }));
    await recordFailedRun(runDeps(), "it crashed");
    fixture.clock.now += 10 * minute;
    const report = await recordFailedRun(runDeps(), "it crashed");
    assert.equal(report.delivered.length, 2);
    const { alerts, stale } = await readStatus(runDeps());
    assert.deepEqual(
      alerts.map(({ key, state }) => `${key} ${state}`),
      ["watchdog/run firing", "x/1 firing"],
    );
    fixture.clock.now += minute;
    assert.equal(stale, false);
    assert.equal((await readStatus(runDeps())).stale, true);
    await run(runDeps({ probes: [seeing("x/1")] }));
    assert.equal((await readStatus(runDeps())).stale, false);
  });
});

test("what is silenced as a warning is sent once it becomes critical, and shown without the silence", async () => {
  const deps = () => runDeps({ probes: [seeing("disk/a"), seeing("disk/b", "critical")] });
  await silence(deps(), { key: "*", hours: 2, reason: "moving", by: "ada" });
  assert.deepEqual((await run(deps())).delivered, []);
  fixture.clock.now += minute;
  const worse = () => runDeps({ probes: [seeing("disk/a", "critical"), seeing("disk/b", "critical")] });
  assert.equal((await run(worse())).delivered.length, 2);
  const shown = (await readStatus(worse())).alerts.map(({ key, silenced_until }) => [
    key,
    silenced_until !== undefined,
  ]);
  assert.deepEqual(shown, [
    ["disk/a", false],
    ["disk/b", true],
  ]);
  assert.doesNotMatch(fixture.smtp.mails[0]?.source ?? "", /disk\/b/);
  await silence(worse(), { key: "disk/a", hours: 1, reason: "known", by: "ada" });
  assert.ok((await readStatus(worse())).alerts.every(({ silenced_until }) => silenced_until !== undefined));
});

test("a silence holds a run back from sending, and its state file belongs to its owner alone", async () => {
  const deps = runDeps({ probes: [seeing("server/one")] });
  await silence(deps, { key: "server/*", hours: 1, reason: "moving", by: "ada" });
  const report = await run(deps);
  assert.deepEqual([report.delivered, report.unheard], [[], []]);
  const { alerts, silences } = await readStatus(deps);
  assert.equal(alerts[0]?.silenced_until, silences[0]?.until);
  assert.match(readFileSync(join(fixture.dir(), "state", "state.json"), "utf8"), /"reason":"moving"/);
  fixture.clock.now += 60 * minute;
  assert.equal((await run(runDeps({ probes: [seeing("server/one")] }))).delivered.length, 2);
});
