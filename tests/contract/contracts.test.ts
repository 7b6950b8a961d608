// What must hold for every contract.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import {
  buckets,
  callerTokens,
  contracts,
  durables,
  eventSubject,
  events,
  Fault,
  type FaultName,
  faults,
  openApiDocument,
  operations,
  pathsOf,
  rpcSubject,
  streamSubjects,
  views,
} from "@svc/proto";

const shape = /^[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*){2,}$/;

describe("requests", () => {
  test("subjects are unique and consist of an owner, a noun and a verb", () => {
    const subjects = contracts.map(rpcSubject);
    assert.equal(new Set(subjects).size, subjects.length);
    for (const contract of contracts) {
      assert.match(contract.subject, shape);
    }
  });
  test("every contract that a service answers has callers; each has a summary and a section of the reference", () => {
    for (const contract of contracts) {
      const isMadeByGateways = contract.http?.changes !== undefined || contract.http?.image !== undefined;
      assert.equal(contract.callers.length > 0, !isMadeByGateways, contract.subject);
      assert.match(contract.summary, /\.$/, contract.subject);
      assert.match(contract.spec, /^docs\/\S+\.md#/, contract.subject);
    }
  });
  test("parameters, query, headers and body of a contract share no key", () => {
    for (const { subject, params, query, headers, body } of contracts) {
      const keys = [params, query, headers, body].flatMap((part) => Object.keys(part?.shape ?? {}));
      assert.equal(new Set(keys).size, keys.length, subject);
    }
  });
});

/** What a caller hears of as `unavailable` when its replica dies: sending it to another one could do it twice. */
const atMostOnce: Record<string, readonly string[]> = {
  "sends a mail": [
    "identity.account-migration.redeem",
    "identity.account-migration.start-code",
    "identity.email.start",
    "identity.notice.send",
    "identity.notice.send-invitation",
    "identity.op-login.start",
    "identity.reauth.start-email",
    "identity.sign-in.start-email",
    "ops-watchdog.alert.test",
    "lifecycle.known-player.change-access",
    "lifecycle.member.invite",
  ],
  "redeems a code at an OpenID provider, which takes it once": [
    "identity.oidc.finish",
    "identity.oidc.finish-link",
  ],
  "asks a session server, which may answer a login once; the proxy repeats it": [
    "identity.session-verifier.has-joined",
  ],
  "runs a command on a game server": [
    "lifecycle.access.change-ban",
    "lifecycle.access.change-group",
    "lifecycle.access.change-permission",
    "lifecycle.access.change-whitelist",
    "lifecycle.access.kick",
    "lifecycle.console.command",
    "lifecycle.schedule.run-now",
  ],
  "is sent again by the proxy, or is an audit entry alone": [
    "lifecycle.player.invite",
    "lifecycle.player.report",
    "lifecycle.server.report-ready",
  ],
  "begins work on a world, which its own row makes once": [
    "storage.backup.create",
    "storage.backup.create-emergency",
    "storage.backup.restore",
    "storage.backup.restore-by-operator",
    "storage.backup.start-now",
    "storage.drill.start",
    "storage.export.start-backup",
    "storage.export.start-file",
    "storage.export.start-world",
    "storage.file.archive",
    "storage.file.fetch",
    "storage.file.make-folder",
    "storage.file.remove",
    "storage.file.rename",
    "storage.file.unzip",
    "storage.file.write",
    "storage.migration.begin",
    "storage.migration.begin-by-operator",
    "storage.migration.cancel",
    "storage.migration.cancel-by-operator",
    "storage.migration.retry",
    "storage.migration.retry-by-operator",
    "storage.plugin.install",
    "storage.plugin.remove",
    "storage.set-aside.begin",
    "storage.set-aside.put-back",
  ],
  "belongs to an upload or a copy, which goes on where it stands": [
    "builds.offsite.read-context",
    "builds.offsite.read-image-part",
    "builds.offsite.read-images",
    "builds.offsite.write-context",
    "builds.offsite.write-image-part",
    "builds.submission.complete-context-upload",
    "storage.offsite.read-archive",
    "storage.offsite.read-chunks",
    "storage.offsite.write-archive",
    "storage.upload.begin",
    "storage.upload.cancel",
    "storage.upload.commit",
    "storage.upload.report-landed",
  ],
};

test("every request may go to another replica, or its reason why not is listed", () => {
  const isTransfer = (kind?: string) => kind === "upload" || kind === "download";
  const once = contracts.filter(
    ({ idempotent, onceById, http }) => !idempotent && !onceById && !isTransfer(http?.kind),
  );
  assert.deepEqual(once.map(({ subject }) => subject).sort(), Object.values(atMostOnce).flat().sort());
});

describe("operations", () => {
  test("no two have the same method and path on one face", () => {
    const claims = operations.flatMap(({ http }) =>
      http.faces.flatMap((face) => pathsOf(http).map((path) => `${face} ${http.method} ${path}`)),
    );
    assert.equal(new Set(claims).size, claims.length);
  });
  for (const { subject, http, params, headers, body } of operations) {
    test(`${subject} binds its parameters and agrees with its tier`, () => {
      for (const path of pathsOf(http)) {
        const places = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
        assert.deepEqual(places.sort(), Object.keys(params.shape).sort());
      }
      assert.equal("token" in headers.shape, http.bearer === "one-time");
      if (http.bearer) assert.equal(http.tier, "public");
      if (http.upload) assert.equal(http.kind, "upload");
      assert.equal(http.callers.length > 0, http.tier === "service");
      assert.ok(http.callers.every((caller) => callerTokens.includes(caller)));
      if (http.method === "GET") assert.equal(body, undefined);
      if (http.view?.as === "item" && "param" in http.view) assert.ok(http.view.param in params.shape);
      // What depends on who asks is refused by the owner alone, and no cache may keep it.
      if (http.view?.as === "item" && http.view.missing) assert.equal(http.view.rows, undefined);
      if (http.publicForSeconds !== undefined) assert.equal(http.tier, "public");
      assert.equal(http.image !== undefined, http.kind === "image");
      if (http.image) assert.ok(http.image.param in params.shape);
      // Every caller of a list by pages shares one index, so that all must see the same rows: staff do.
      if (http.view?.rows?.listedAs && http.view.as === "list") assert.match(http.tier, /^(admin|owner)$/);
      if (http.setup) assert.equal(http.tier, "app");
    });
  }
});

describe("events and views", () => {
  for (const event of events) {
    test(`the sample of ${event.subject} parses and is filed in its owner's stream`, () => {
      assert.match(event.subject, shape);
      assert.deepEqual(event.data.parse(event.sample), event.sample);
      const [stream = ""] = streamSubjects(event.owner);
      assert.ok(eventSubject(event, event.sample).startsWith(stream.replace(/>$/, "")));
    });
  }
  test("subjects of events are unique", () => {
    assert.equal(new Set(events.map(({ subject }) => subject)).size, events.length);
  });
  test("names of views and buckets are unique, and times to live are at least the second of NATS", () => {
    const names = [...views, ...buckets].map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const { name, ttlMs } of buckets) assert.ok(ttlMs >= 1_000, name);
    for (const name of names) assert.match(name, /^[a-z][a-z-]{0,31}$/);
  });
  test("names of durable consumers fit NATS", () => {
    for (const { name } of durables) assert.match(name, /^[a-z][a-z-]{0,31}$/);
  });
});

/** docs/reference/errors.md, and docs/reference/errors.md for those that it leaves open. */
const codes: Readonly<Record<number, string>> = {
  400: `bad_request invalid_code bad_path upload_incomplete bad_name bad_display_name bad_idle_stop storage_immutable
    confirm_mismatch invalid_quota bad_schedule digest_required bad_digest digest_mismatch no_passkey
    passkey_login_failed passkey_login_invalid op_login_invalid setup_token_invalid no_session invalid_target
    target_not_found target_unavailable image_not_in_registry image_without_provenance passkey_register_failed bad_subdomain
    image_not_whitelisted`,
  401: "unauthorized",
  403: `forbidden wrong_caller setup_required cross_site quota_exceeded submission_quota_exceeded reauth_required
    local_auth_disabled staff_account staff_reauth not_admin self_protected owner_protected migrate_quota_exceeded`,
  404: `not_found no_backup provenance_not_found scan_not_found scan_document_not_kept upload_not_found session_not_found
    op_login_not_found no_migration not_linked`,
  405: "method_not_allowed",
  409: `already_linked already_claimed not_stopped maintenance_in_progress world_reclaiming world_volume_exists
    restore_in_progress backup_corrupt backup_pinned no_world_volume context_changed image_change_unconfirmed file_exists
    file_changed schedule_running upload_offset_mismatch upload_busy upload_incomplete start_failed server_retiring
    not_running luckperms_missing system_server world_volume_orphaned schedule_limit schedule_stale export_not_ready
    already_reviewed already_confirmed not_confirmed passkey_required no_step_up_factor last_passkey email_taken
    account_retired protected_admin op_login_mismatch username_taken name_taken subdomain_taken build_finished
    passkey_taken`,
  410: "export_expired",
  411: "length_required",
  412: "not_linked",
  413: "too_large part_too_large",
  415: "unsupported_media_type",
  429: `rate_limited mail_rate_limited otp_account_locked backup_cooldown export_busy too_many_uploads otp_locked
    otp_resend_cooldown too_many_challenges too_many_streams submission_cooldown cooldown`,
  500: "internal",
  502: "mail_undeliverable read_damaged",
  503: `mail_unavailable at_capacity export_unavailable files_unavailable registry_unavailable passkey_unavailable
    auth_unavailable uploads_store_unavailable unavailable`,
  504: "files_timeout",
  507: "backup_store_full volume_full uploads_full upload_staging_full",
};

describe("faults", () => {
  const known = new Set(Object.values(faults).map(({ status, code }) => `${status} ${code}`));
  for (const [status, list] of Object.entries(codes)) {
    test(`every code of ${status} is in the table`, () => {
      const missing = list.split(/\s+/).filter((code) => !known.has(`${status} ${code}`));
      assert.deepEqual(missing, []);
    });
  }
  test("every message is filled in", () => {
    for (const [name, { message }] of Object.entries(faults)) {
      assert.ok(message.length >= 10, name);
      assert.doesNotMatch(message, /undefined|\[object/, name);
    }
  });
});

describe("the OpenAPI description", () => {
  test("docs/openapi.json is current; `npm run openapi` writes it", () => {
    const file = readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8");
    assert.deepEqual(JSON.parse(file), JSON.parse(JSON.stringify(openApiDocument())));
  });

  const document = JSON.parse(JSON.stringify(openApiDocument()));
  const items = Object.values(document.paths).flatMap((path) =>
    Object.values(path as Record<string, OpenApiItem>),
  );

  test("it has every operation, with a unique id", () => {
    const ids = items.map((item) => item.operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { http } of operations)
      assert.ok(document.paths[http.path][http.method.toLowerCase()], http.path);
  });
  test("every reference resolves", () => {
    const names = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
    for (const [, name = ""] of names) assert.ok(document.components.schemas[name], name);
    assert.doesNotMatch(JSON.stringify(document), /\$defs/);
  });
});

type OpenApiItem = { operationId: string };

describe("refusals", () => {
  const limits = (Object.keys(faults) as FaultName[]).filter((name) => faults[name].status === 429);
  test("every 429 has Retry-After, also when it is thrown without one", () => {
    assert.ok(limits.length > 10);
    for (const name of limits) assert.ok((new Fault(name).retryAfterSeconds ?? 0) >= 1, name);
  });
});
