import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadSettings } from "@svc/config";
import { readBuildSecrets, settings } from "./config.ts";

const load = (...overrides: string[]) => loadSettings(settings, { overrides });

test("the defaults are those of the specification", () => {
  const { registry, builds } = load();
  assert.deepEqual(registry, {
    url: "",
    timeout: 5_000,
    user_uploads_context: "s3://svc-user-uploads",
    user_uploads_max_bytes: 4 * 2 ** 30,
    user_uploads_keep_free: 0.1,
    context_max_bytes: 2 ** 30,
    s3_endpoint: "",
    s3_region: "us-east-1",
    s3_path_style: true,
    s3_access_key_ref: "SVC_UPLOADS_ACCESS_KEY",
    s3_secret_key_ref: "SVC_UPLOADS_SECRET_KEY",
    build_namespace: "svc-build",
    max_concurrent_builds: 0,
    scan_fail_on: ["CRITICAL"],
    scan_fail_unfixed: false,
    require_provenance: false,
    rescan_every: 86_400_000,
    scan_accept: [],
    scan_db: "required",
    scan_db_max_age: 7 * 86_400_000,
    build_cpu_limit: "2",
    build_mem_limit: "4Gi",
    build_disk_limit: "12Gi",
    build_user_namespaces: "auto",
    build_runtime_class: "",
    push_token_ref: "SVC_REGISTRY_PUSH_TOKEN",
    prune_token_ref: "SVC_REGISTRY_PRUNE_TOKEN",
    restore_token_ref: "SVC_REGISTRY_RESTORE_TOKEN",
    prune_every: 6 * 3_600_000,
  });
  assert.deepEqual([builds.recommended, builds.list_page, builds.egress_gate], [[], 500, true]);
  const { agent_image, builder, scanner, internal_url } = builds;
  assert.deepEqual([agent_image, builder, scanner, internal_url], ["", "", "", ""]);
  const { build_deadline, job_ttl, poll_interval } = builds;
  assert.deepEqual([build_deadline, job_ttl, poll_interval], [1_800_000, 7 * 86_400_000, 15_000]);
  const { context_bytes, context_entries } = builds;
  assert.deepEqual([context_bytes, context_entries], [4 * 1_024 ** 3, 200_000]);
  const { context_disk, image_disk, reports_disk, scan_disk, scan_memory } = builds;
  assert.deepEqual([context_disk, image_disk, reports_disk], ["4Gi", "10Gi", "512Mi"]);
  assert.deepEqual([scan_disk, scan_memory], ["8Gi", "3Gi"]);
});

test("limits of submissions are those of the specification", () => {
  const { builds } = load();
  const { submissions_pending, submission_account_bytes } = builds;
  assert.deepEqual([submissions_pending, submission_account_bytes], [5, 2 * 2 ** 30]);
  const { submission_cooldown, upload_cooldown, upload_lease } = builds;
  assert.deepEqual([submission_cooldown, upload_cooldown, upload_lease], [30_000, 15_000, 30_000]);
  const { staged_keep, rejected_keep, unnamed_keep } = builds;
  assert.deepEqual([staged_keep, rejected_keep, unnamed_keep], [86_400_000, 7 * 86_400_000, 3_600_000]);
  const { sweep_interval, notice_interval, context_checks } = builds;
  assert.deepEqual([sweep_interval, notice_interval, context_checks], [3_600_000, 15_000, 2]);
});

test("severities are upper-cased, and what is none is named", () => {
  assert.deepEqual(load('registry.scan_fail_on=["critical", "High"]').registry.scan_fail_on, [
    "CRITICAL",
    "HIGH",
  ]);
  assert.throws(() => load('registry.scan_fail_on=["BAD"]'), { message: /registry\.scan_fail_on/ });
  assert.throws(() => load('registry.scan_accept=["-x"]'), { message: /registry\.scan_accept/ });
});

test("a rotated token is read from its file at each launch, before the variable", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-builds-config-"));
  const file = join(dir, "build");
  const env = { SVC_BUILD_TOKEN: "old", SVC_BUILD_TOKEN_FILE: file };
  writeFileSync(file, "one\n");
  assert.deepEqual(readBuildSecrets(load(), env), { callerToken: "one", pushCredential: undefined });
  writeFileSync(file, "two\n");
  assert.equal(readBuildSecrets(load(), { ...env, SVC_REGISTRY_PUSH_TOKEN: "build:x" }).callerToken, "two");
  assert.equal(readBuildSecrets(load(), { SVC_REGISTRY_PUSH_TOKEN: "build:x" }).pushCredential, "build:x");
  rmSync(dir, { recursive: true });
});

for (const url of ["http://registry:5000", "registry:5000/path", "user@registry", "registry:port", "-x"]) {
  test(`${url} is not an address of a registry`, () => {
    assert.throws(() => load(`registry.url=${url}`), { name: "ConfigError", message: /registry\.url/ });
  });
}

for (const url of ["registry:5000", "127.0.0.1:5000", "registry.example.org", "[::1]:5000"]) {
  test(`${url} is an address of a registry`, () => {
    assert.equal(load(`registry.url=${url}`).registry.url, url);
  });
}
