import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "@svc/config";
import { settings } from "./config.ts";

const load = (...overrides: string[]) => loadSettings(settings, { overrides }).ops_watchdog;
const hour = 3_600_000;

test("the defaults are those of the specification", () => {
  const defaults = load();
  assert.deepEqual(
    [defaults.keep_daily, defaults.keep_pre_migrate, defaults.keep_pre_restore, defaults.keep_offsite],
    [14, 10, 5, 1],
  );
  assert.deepEqual([defaults.bundle_max_age, defaults.report_max_age], [26 * hour, 26 * hour]);
  assert.deepEqual([defaults.bundle_at, defaults.bundle_jitter], ["03:30", hour / 4]);
  assert.deepEqual([defaults.bundle_retry, defaults.rehearsal_every], [hour, 168 * hour]);
  assert.equal(defaults.bundle_dir, "/var/lib/svc/db-backups");
  assert.deepEqual(
    [
      defaults.wal_archive,
      defaults.wal_dir,
      defaults.wal_keep,
      defaults.base_backup_every,
      defaults.wal_max_age,
    ],
    [false, "/var/lib/svc/wal", 168 * hour, 24 * hour, hour / 4],
  );
  assert.equal(defaults.feed_platform, "");
  assert.deepEqual([defaults.webhooks_per_server, defaults.webhooks_of_platform], [5, 20]);
  assert.deepEqual([defaults.webhook_ports, defaults.webhook_inside], [[443], []]);
  assert.deepEqual([defaults.webhook_timeout, defaults.webhook_off_after], [10_000, 72 * hour]);
});

for (const wrong of [
  "bundle_dir=backups",
  "bundle_at=24:00",
  "feed_nats=ftp://x",
  "keep_daily=0",
  "wal_dir=wal",
  "base_backup_every=1s",
  "pinned=[1]",
  "webhook_timeout=30s",
  "webhook_ports=[]",
  'webhook_inside=["chat.internal"]',
  'webhook_inside=["http://chat.internal/path"]',
]) {
  test(`${wrong} is refused`, () => {
    assert.throws(() => load(`ops_watchdog.${wrong}`), { name: "ConfigError", message: /ops_watchdog/ });
  });
}
