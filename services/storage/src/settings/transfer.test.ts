import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "@svc/config";
import { uploads } from "@svc/proto";
import { settings } from "../config.ts";
import { transferSettings } from "./transfer.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

test("the defaults of files, uploads and exports are those of the specification", () => {
  const { storage } = loadSettings(settings, {});
  const known: Record<string, unknown> = storage;
  const mine = Object.fromEntries(Object.keys(transferSettings).map((key) => [key, known[key]]));
  assert.deepEqual(mine, {
    internal_url: "",
    file_wait: 90 * second,
    file_deadline: 2 * minute,
    file_job_ttl: 2 * minute,
    read_bytes: 1_048_576,
    write_bytes: 262_144,
    file_jobs_at_once: 4,
    file_op_deadline: 2 * hour,
    file_op_kept: 30 * minute,
    file_version_kept: 90 * 24 * hour,
    file_ops_shown: 10,
    file_op_settle: 2 * second,
    file_op_patience: minute,
    fetch_from: [],
    fetch_bytes: 512 << 20,
    fetch_deadline: 30 * minute,
    modrinth_url: "https://api.modrinth.com/v2",
    hangar_url: "https://hangar.papermc.io/api/v1",
    plugin_hosts: ["cdn.modrinth.com", "hangarcdn.papermc.io", "hangar.papermc.io"],
    plugin_bytes: 256 << 20,
    plugin_questions: 240,
    staging_path: "/uploads/.file-staging",
    staging_keep_free: 0.1,
    upload_sessions: 4,
    upload_idle: 6 * hour,
    upload_empty: 30 * minute,
    upload_account_share: 0.25,
    upload_sweep: 10 * minute,
    upload_lease: 30 * second,
    upload_parts: 1_200,
    transfer_stall: 2 * minute,
    transfer_recheck: minute,
    export_appear: 10 * minute,
    export_wait: 90 * second,
    export_body: 10 * second,
    export_deadline: 2 * hour,
    export_sweep: minute,
    export_kept: 10 * minute,
    export_window: hour,
    export_per_user: 1,
    export_platform: 2,
    export_hourly: 6,
    download_per_user: 2,
    download_platform: 4,
    download_hourly: 30,
    export_retry_own: 90 * second,
    export_retry_platform: minute,
  });
});

test("the limit of one request is 64 MiB, that of a part 32 MiB", () => {
  assert.deepEqual([uploads.singleUploadBytes, uploads.partBytes], [64 << 20, 32 << 20]);
});
