import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { alerts } from "@svc/proto";
import type { HostContext } from "../host/context.ts";
import { runWatchCommand } from "../host/watch.ts";
import { admin, type Fixture, startFixture } from "../testing/fixture.ts";
import { finding } from "./finding.ts";
import { observe } from "./observe.ts";
import { openStateFile } from "./state-file.ts";

const hour = 3_600_000;

describe("alerts for staff", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-alerts-"));
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture([
      `ops_watchdog.state_dir=${join(dir, "state")}`,
      `ops_watchdog.state_copy_dir=${join(dir, "copy")}`,
      'ops_watchdog.channels=[{name="ops",url_ref="SVC_TEST_NO_SUCH_URL"}]',
    ]);
  });
  after(async () => {
    await fixture?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const read = () => fixture.gateway.call(alerts.readAlerts, {}, admin);
  const seen = (severity: "critical" | "warning") =>
    finding(
      { key: "server/one", severity, hint: { en: "Start it.", zh: "请启动。" } },
      { en: "It failed.", zh: "失败。" },
    );

  test("say that nothing was checked yet, and that mail is off", async () => {
    const status = await read();
    assert.deepEqual([status.checked_at, status.stale, status.alerts], [null, true, []]);
    assert.deepEqual([status.mail, status.heartbeat], [{ state: "off", recipients: 0 }, { state: "off" }]);
    assert.deepEqual(status.channels, [{ name: "ops", format: "json", state: "unused" }]);
  });

  test("are silenced, acknowledged and heard again, each with who did it in the history and the audit log", async () => {
    const { now } = fixture.clock;
    const file = openStateFile({ dir: join(dir, "state"), copyDir: join(dir, "copy"), now: () => now });
    await file.update((state) => observe(state, { findings: [seen("warning")], unknown: [] }, now));
    const wanted = { key: "server/*", hours: 2, reason: "moving" };
    const silence = await fixture.gateway.call(alerts.silenceAlerts, wanted, admin);
    assert.equal(silence.until, new Date(now + 2 * hour).toISOString());
    const about = { key: "server/one", note: "on it" };
    const alert = await fixture.gateway.call(alerts.acknowledgeAlert, about, admin);
    assert.deepEqual([alert.silenced_until, alert.acknowledged?.by], [silence.until, "usr-admin"]);
    assert.deepEqual((await read()).silences, [silence]);
    await fixture.gateway.call(alerts.endSilence, { id: silence.id }, admin);
    const { entries } = await fixture.gateway.call(alerts.readAlertHistory, {}, admin);
    assert.deepEqual(
      entries.map(({ what, by }) => `${what} ${by ?? ""}`.trim()),
      ["silence_ended usr-admin", "acknowledged usr-admin", "silenced usr-admin", "fired"],
    );
    await until(() => fixture.audits.length >= 3);
    assert.deepEqual(fixture.audits.map(({ action }) => action).sort(), [
      "alert.acknowledge",
      "alert.end_silence",
      "alert.silence",
    ]);
  });

  test("are silenced at the host too, and its user is in the audit log", async () => {
    const before = fixture.audits.length;
    const context = { settings: fixture.settings, env: {} } as HostContext;
    const wanted = { key: "*", hours: 1, reason: "moving" };
    const made = await runWatchCommand(context, { do: "silence-alerts", by: "host", ...wanted });
    const { id } = alerts.AlertSilence.parse(made);
    await runWatchCommand(context, { do: "end-silence", by: "host", id });
    await until(() => fixture.audits.length >= before + 2);
    const entries = fixture.audits.slice(before).map(({ action, actor, source, payload }) => ({
      ...{ action, actor, source, payload },
    }));
    const who = { actor: userInfo().username, source: "break-glass" };
    assert.deepEqual(
      entries.toSorted((a, b) => a.action.localeCompare(b.action)),
      [
        { action: "alert.end_silence", ...who, payload: { id } },
        { action: "alert.silence", ...who, payload: wanted },
      ],
    );
  });

  test("that do not exist are 404, and what is wrong is 400", async () => {
    const { gateway } = fixture;
    await assert.rejects(gateway.call(alerts.endSilence, { id: "none" }, admin), { fault: "not_found" });
    await assert.rejects(gateway.call(alerts.acknowledgeAlert, { key: "none" }, admin), {
      fault: "not_found",
    });
    for (const wrong of [{ key: "a*b" }, { hours: 0 }, { hours: 169 }, { reason: " " }]) {
      const body = { key: "a", hours: 1, reason: "r", ...wrong };
      await assert.rejects(gateway.call(alerts.silenceAlerts, body, admin), { fault: "bad_request" });
    }
  });

  test("are tested once a minute; what is not set up says so", async () => {
    const { deliveries } = await fixture.gateway.call(alerts.testAlerts, {}, admin);
    assert.deepEqual(deliveries, [
      { name: "mail", ok: false, error: "no mail relay is configured" },
      { name: "ops", ok: false, error: "the variable with its address is empty" },
    ]);
    await assert.rejects(fixture.gateway.call(alerts.testAlerts, {}, admin), {
      fault: "alert_test_cooldown",
    });
  });
});
