import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "@svc/config";
import { settings } from "./config.ts";

const minute = 60_000;
const day = 86_400_000;

test("the defaults of the archive are those of the specification", () => {
  const { archive, k8s } = loadSettings(settings, {});
  assert.equal(k8s.namespace, "minecraft");
  assert.deepEqual(archive, {
    store: "tarLocal",
    local_path: "/archive",
    compression: "zstd",
    deduplicate: false,
    file_digests: false,
    pack_grace: day,
    retention: 90 * day,
    warn_before: ["3d", "1d"],
    max_local_bytes: 0,
    manual_retention: 30 * day,
    manual_keep: 5,
    manual_cooldown: 10 * minute,
    owner_pins: 10,
    scheduled_every: day,
    scheduled_keep: 7,
    scheduled_retention: 90 * day,
    s3: {},
  });
});

test("the defaults of backups, restores and their Jobs are those of the specification", () => {
  const { storage } = loadSettings(settings, {});
  const wanted = {
    agent_image: "",
    agent_command: [],
    archive_claim: "svc-archive",
    job_account: "world-jobs",
    job_cpu: "1",
    job_memory: "768Mi",
    keep_free: 0.1,
    pre_restore_keep: 3,
    backup_deadline: 30 * minute,
    restore_deadline: 30 * minute,
    verify_deadline: 30 * minute,
    browse_deadline: 2 * minute,
    job_ttl: 10 * minute,
    job_unnoted_ttl: 7 * day,
    start_patience: 2 * minute,
    settle_interval: 5_000,
    settle_busy_interval: 1_000,
    idle_interval: 30_000,
    await_interval: 250,
    job_history: 30 * day,
    jobs_shown: 50,
    log_line: 2 * 1024 * 1024,
    auto_backup_interval: 2 * minute,
    slot_share: 0.25,
    auto_backup_tries: 10,
    lock_ttl: 2 * minute,
    lock_refresh: 30_000,
    lease_duration: 12_000,
    lease_renew: 4_000,
    drill_boot: 5 * minute,
    drill_limit: 60 * minute,
    drills_at_once: 2,
    drill_cooldown: 60 * minute,
  };
  const mine = Object.fromEntries(Object.entries(storage).filter(([key]) => key in wanted));
  assert.deepEqual(mine, wanted);
});

test("a warning time that is not a duration is rejected, because owners would not be warned", () => {
  const load = () => loadSettings(settings, { overrides: ['archive.warn_before=["3 days"]'] });
  assert.throws(load, { name: "ConfigError", message: /warn_before/ });
});

test("archive stores that are named but not implemented are rejected", () => {
  for (const store of ["tarS3", "volumeSnapshot", "longhorn"]) {
    const load = () => loadSettings(settings, { overrides: [`archive.store=${store}`] });
    assert.throws(load, { name: "ConfigError", message: /archive\.store/ });
  }
});
