import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "@svc/config";
import { settings } from "./config.ts";

test("the defaults are the numbers of the specification", () => {
  const { lifecycle, k8s } = loadSettings(settings, {});
  assert.equal(k8s.namespace, "minecraft");
  assert.deepEqual(lifecycle, {
    wake_cooldown: 30_000,
    max_running_servers: 0,
    stop_notice: 30_000,
    save_timeout: 30_000,
    probe_timeout: 5_000,
    max_probes: 200,
    probe_misses: 3,
    probe_retry: 10_000,
    count_interval: 30_000,
    join_count_interval: 2_000,
    join_count_window: 10_000,
    arrival_window: 180_000,
    password_ttl: 300_000,
    reconcile_starting: 2_000,
    reconcile_stopping: 5_000,
    reconcile_secret: 10_000,
    reconcile_maintenance: 5_000,
    reconcile_running: 60_000,
    reconcile_failed: 300_000,
    reconcile_node: 10_000,
    concurrency: 4,
    pass_limit: 180_000,
    pass_stuck: 600_000,
    relist: 600_000,
    startup_timeout: 300_000,
    auto_restarts: 3,
    auto_restart_backoff: 60_000,
    maintenance_lock: 120_000,
    default_memory: "2Gi",
    default_storage: "8Gi",
    idle_default: 600_000,
    owner_idle_min: 60_000,
    owner_idle_max: 6 * 3_600_000,
    owner_idle_off: false,
    termination_grace: 300_000,
    heap_reserve_min: 512 * 2 ** 20,
    default_image: "svc.local/demo-server:1.21.4",
    max_claims: 4,
    allowlist_shown: 5_000,
    platform_image: "",
    egress_wait: 30_000,
    egress_positive_probe: "kube-dns.kube-system.svc:53",
    egress_probe: "",
    forwarding_master_file: "",
    forwarding_shared_file: "",
    history_sample: 60_000,
    history_tick_queries: 16,
    schedule_tick: 15_000,
    schedule_limit: 20,
    schedule_missed_after: 600_000,
    schedule_claim_patience: 120_000,
    schedule_stop_wait: 900_000,
    schedule_backup_wait: 2_700_000,
    schedule_backup_appear: 120_000,
    schedule_start_wait: 900_000,
    schedule_first_step: 30_000,
    schedule_concurrency: 32,
    console_tail: 100,
    console_catch_up: 5_000,
    console_linger: 150_000,
    console_lease: 5_000,
    console_renew: 1_000,
    console_poll: 500,
    console_line_bytes: 4_096,
    console_burst: 2_000,
    console_lines_per_second: 100,
    rcon_timeout: 5_000,
    rcon_waiting: 16,
    rcon_idle: 30_000,
    rcon_reply_bytes: 256 * 1_024,
    luckperms_pages: 10,
    lease_duration: 6_000,
    lease_renew: 2_000,
    list_page: 500,
  });
});

test("a setting can be overridden, and a wrong one is named", () => {
  const changed = loadSettings(settings, { overrides: ["lifecycle.arrival_window=5s"] });
  assert.equal(changed.lifecycle.arrival_window, 5_000);
  assert.throws(
    () => loadSettings(settings, { overrides: ["lifecycle.max_claims=0"] }),
    /lifecycle\.max_claims/,
  );
});
