// The table of all faults (docs/reference/errors.md).
// A name is unique here; the wire code is what callers see and may be shared by several names.

import { rows } from "./fault-rows.ts";
import { accountFaults } from "./identity-faults.ts";

/** The fault table: status, wire code, retry rule and the message used when a handler gives none. */
export const faults = {
  ...rows({
    bad_request: [400, "The request is not valid."],
    bad_name: [
      400,
      "The server name is not valid: 3 to 32 of a-z, 0-9 and -, no dash at an edge, not a reserved name.",
    ],
    bad_subdomain: [
      400,
      "The subdomain is not valid: 3 to 32 of a-z, 0-9 and -, no dash at an edge, not a reserved name.",
    ],
    bad_display_name: [400, "The display name is not valid: at most 64 visible characters or spaces."],
    bad_mc_uuid: [400, "The player id is not a UUID."],
    bad_id: [400, "The id is not valid."],
    bad_node: [400, "The node is not an approved worker; GET /api/v1/nodes lists them."],
    address_refused: [400, "Files are not fetched from this address; the message says why."],
    bad_path: [400, "The path leaves the world volume or names a protected file."],
    bad_schedule: [400, "The schedule's settings are not valid."],
    bad_idle_stop: [400, "idleStopSeconds must be 0 (off) or 60 to 86400."],
    bad_keep_awake: [400, "until must be in the future and not too far ahead."],
    bad_filter: [400, "The filter is not valid."],
    bad_template: [400, "The template is not valid."],
    bad_group: [400, "The stages of the group are not valid."],
    bad_announcement: [400, "The start or the end of the announcement is not valid."],
    bad_tags: [400, "The tags are not valid: at most 8, each 1 to 24 letters and digits."],
    bad_webhook_url: [400, "The address of the webhook is not valid; it must be a public https address."],
    bad_digest: [400, "The Content-Digest header is malformed; send sha-256=:BASE64:."],
    digest_required: [400, "A Content-Digest header with the sha-256 of the body is required."],
    digest_mismatch: [
      400,
      "The received bytes do not match their digest; nothing was stored, send them again.",
    ],
    invalid_code: [400, "The code is unknown, used or expired; ask for a new one."],
    invalid_quota: [400, "A quota must be null or 0 to 2147483647."],
    invalid_target: [400, "The target account cannot be your own."],
    target_not_found: [400, "The target account does not exist."],
    target_unavailable: [400, "The target account is disabled or retired."],
    confirm_mismatch: [400, "The confirmation must repeat the server name exactly."],
    storage_immutable: [400, "The storage size of an existing server cannot be changed."],
    image_not_whitelisted: [400, "The image is not on the whitelist; an admin can add it."],
    image_not_in_registry: [400, "The registry has no such image; build or push it first."],
    image_without_provenance: [
      400,
      "Only images that a build of this installation made may be used; this one has no provenance.",
    ],
    no_passkey: [400, "The account has no passkey for this."],
    no_session: [400, "This needs a signed-in browser session."],
    op_login_invalid: [400, "The operator login is not approved, or its code is wrong or expired."],
    setup_token_invalid: [
      400,
      "The setup link is unknown, used or expired; restarting identity makes a new one while there is no owner.",
    ],
    upload_incomplete: [400, "The body ended before its declared length; the original file is unchanged."],
    unauthorized: [401, "No valid credential was sent; sign in or send the service token."],
    session_invalid: [
      401,
      "invalid session: unknown, expired or signed out; sign in again.",
      { code: "unauthorized" },
    ],
    session_local_auth_off: [401, "invalid session: local auth disabled", { code: "unauthorized" }],
    forbidden: [403, "You are not allowed to do this."],
    wrong_caller: [403, "This service token belongs to a caller that may not use this operation."],
    setup_required: [403, "Finish setup first: verify an e-mail address or add a passkey."],
    cross_site: [403, "Changes are only accepted from this site's own pages."],
    quota_exceeded: [403, "Your server quota is used up."],
    submission_quota_exceeded: [403, "Your upload budget is used up; delete an upload first."],
    keep_awake_quota_exceeded: [
      403,
      "The owner's limit of servers that are kept awake is reached; let another one sleep first.",
    ],
    migrate_quota_exceeded: [
      403,
      "These servers exceed the quota of the target account; nothing was transferred.",
    ],
    local_auth_disabled: [403, "Signing in with a password is switched off."],
    staff_account: [403, "Operators sign in on the operator console."],
    staff_reauth: [403, "Operators cannot confirm their identity by mail; use a passkey or sign in again."],
    reauth_required: [403, "Confirm your identity first; GET /api/v1/account/reauth lists the ways."],
    not_admin: [403, "The approving player is not linked to a staff account."],
    self_protected: [403, "You cannot do this to your own account."],
    owner_protected: [403, "The owner account is changed only from the host console."],
    player_barred: [403, "This player is not allowed to join."],
    account_retired: [403, "This account is disabled or deleted."],
    access_beyond_own: [
      403,
      "You can only grant and change access that is within your own; ask the owner of the server.",
    ],
    no_good_start: [
      409,
      "No start of this server is on record after which players could join, so what changed since is unknown; restore a backup instead.",
    ],
    no_idle_stop: [409, "This server has no idle stop, so there is nothing to keep it awake for."],
    nothing_changed: [409, "No plugin, mod or configuration has changed since the last good start."],
    fetch_disabled: [403, "Files are not fetched from addresses here (storage.fetch_from); upload the file."],
    catalogue_disabled: [403, "This catalogue is switched off on this installation."],
    path_not_shared: [
      403,
      "Your access to this server is limited to some files and folders, and this reaches others; ask its owner.",
    ],
    not_found: [404, "Not found."],
    group_not_found: [404, "The group does not exist; list your groups."],
    template_not_found: [404, "The template does not exist or is not offered; list the templates."],
    announcement_not_found: [404, "The announcement does not exist; old ones are deleted."],
    known_player_not_found: [
      404,
      "None of the servers whose players you may see has a record of this player; records expire, or the player had them erased.",
    ],
    note_not_found: [404, "The note does not exist; somebody else may have deleted it."],
    webhook_not_found: [404, "The webhook does not exist; it may have been deleted."],
    delivery_not_found: [404, "The webhook has no such delivery; it may have expired."],
    invitation_not_found: [404, "This account has no such invitation; it may have been revoked."],
    member_not_found: [404, "The server is not shared with this account; the access may have ended already."],
    player_unknown: [404, "No player of this name has joined here, or several have; send a link instead."],
    plugin_not_found: [404, "The catalogue has no such project or version."],
    no_backup: [404, "The backup does not exist."],
    no_migration: [404, "No server transfer is in progress."],
    provenance_not_found: [404, "The image has no provenance."],
    scan_not_found: [404, "The build has no stored scan."],
    scan_document_not_kept: [404, "This document was not stored."],
    upload_not_found: [404, "The upload does not exist; start it again."],
    session_not_found: [404, "The session does not exist."],
    op_login_not_found: [404, "The operator login does not exist; it may have expired."],
    migrate_not_linked: [404, "This player is not linked to an account.", { code: "not_linked" }],
    method_not_allowed: [405, "This path does not support that method; see the Allow header."],
    already_member: [409, "You have access to this server already."],
    already_claimed: [409, "The server already has an owner."],
    already_linked: [409, "This player is already linked to another account."],
    already_confirmed: [409, "This step is already confirmed."],
    already_reviewed: [409, "The submission is no longer pending."],
    account_is_retired: [
      409,
      "The source account was retired by a completed server transfer.",
      { code: "account_retired" },
    ],
    clone_not_failed: [409, "The world of the clone is there or on its way; there is nothing to try again."],
    backup_corrupt: [409, "The backup failed verification and cannot be used."],
    backup_pinned: [409, "This backup is pinned; whoever pinned it must unpin it first."],
    pin_limit: [409, "You have reached the limit of pinned backups; unpin one first."],
    acceptance_limit: [409, "The limit of accepted findings is reached; remove an acceptance first."],
    build_finished: [409, "The build has already ended."],
    build_unfinished: [409, "Only a build that failed or was cancelled can be repeated."],
    migration_not_failed: [409, "Only a failed move can be retried."],
    migration_over: [409, "The move has ended or is about to end; it cannot be cancelled."],
    context_changed: [409, "The build context changed since it was reviewed; review it again."],
    email_taken: [409, "Another account has verified this address."],
    export_not_ready: [409, "The export is not ready yet."],
    file_changed: [409, "The file changed since you read it; read it again."],
    plan_changed: [409, "What would be installed has changed since it was shown; look at the plan again."],
    plan_refused: [409, "This cannot be installed as planned; the problems of the plan say why."],
    file_exists: [409, "A file of that name exists; choose another name or overwrite it."],
    folder_not_empty: [409, "The folder is not empty; delete what is in it first."],
    image_change_unconfirmed: [409, "Changing the image of a server needs confirmImageChange=true."],
    last_way_in: [
      409,
      "This is the only way into the account; add a passkey or verify an e-mail address first.",
    ],
    last_link: [
      409,
      "This is the only way into the account; add a passkey or verify an e-mail address first.",
    ],
    last_passkey: [409, "This is the only way into the account; verify an e-mail address first."],
    luckperms_missing: [409, "The server has no LuckPerms; nothing was changed."],
    maintenance_in_progress: [
      409,
      "A backup, restore, export or file change is using the world; try again when it is done.",
    ],
    name_taken: [409, "A server of that name exists."],
    subdomain_taken: [409, "Another server has that subdomain."],
    invitation_limit: [409, "The server has reached its limit of open invitations; revoke one first."],
    member_limit: [409, "The server has reached its limit of members; remove one first."],
    group_name_taken: [409, "You have a group of this name; choose another one."],
    group_limit: [409, "You have reached the limit of groups; delete one first."],
    group_running: [409, "The group is being started or stopped; wait until it has finished, or cancel it."],
    group_empty: [409, "The group has no servers; add some first."],
    announcement_exists: [409, "Another announcement has this id; choose another one, or change that one."],
    announcement_limit: [409, "The limit of planned and current announcements is reached; end one first."],
    note_limit: [409, "This player has reached the limit of notes on this server; delete one first."],
    filter_limit: [409, "You have reached the limit of saved filters; delete one first."],
    announcement_over: [409, "The announcement is over; make a new one."],
    template_exists: [409, "A template of that name exists; choose another name, or change that one."],
    template_changed: [409, "Somebody else changed the template; read it again and repeat your change."],
    template_limit: [409, "The limit of templates is reached; delete one first."],
    creation_limit: [
      409,
      "You have reached the limit of servers that an account may create; staff can delete one that you gave up.",
    ],
    maintenance_window: [
      409,
      "No server is woken during a maintenance window; GET /api/v1/announcements says when it ends.",
    ],
    webhook_limit: [409, "The limit of webhooks is reached; delete one first."],
    webhook_off: [409, "The webhook is off; switch it on first."],
    webhook_unsigned: [409, "Only webhooks of the format json are signed and have a secret."],
    username_taken: [409, "An account of that name exists."],
    no_step_up_factor: [409, "The account has no passkey or verified e-mail to confirm your identity with."],
    no_world_volume: [409, "The server has no world volume yet; start it once."],
    not_confirmed: [409, "The step before this one is not confirmed in this session."],
    not_running: [409, "The server is not running."],
    not_stopped: [409, "The server must be fully stopped first."],
    op_login_mismatch: [409, "The name does not match the account; the request stays pending."],
    protected_admin: [409, "The player is linked to a staff account."],
    restore_in_progress: [409, "A restore is using this world or backup."],
    schedule_limit: [409, "A server has at most 20 schedules; delete one first."],
    schedule_running: [409, "The schedule is running; wait until it has finished."],
    schedule_stale: [409, "The server has a new owner; save the schedule again first."],
    server_retiring: [409, "The server is being given up or deleted."],
    start_failed: [
      409,
      "The server failed to start and has used up its retries; its owner can start it again.",
    ],
    system_server: [409, "System servers cannot be given up or deleted."],
    upload_busy: [409, "Another request is writing this upload."],
    upload_not_complete: [
      409,
      "The upload is not complete; send the missing parts first.",
      { code: "upload_incomplete" },
    ],
    upload_offset_mismatch: [
      409,
      "The part does not start where the upload ends; read the upload for its offset.",
    ],
    world_reclaiming: [409, "The idle world is being archived; try again later."],
    world_volume_exists: [409, "A world volume of that name exists; restore or remove it first."],
    world_volume_orphaned: [
      409,
      "The server is gone but its volume still exists; an operator has to clean up.",
    ],
    invitation_over: [410, "This invitation has been used, was revoked or has expired; ask for a new one."],
    export_expired: [410, "The download was not started or finished in time; start it again."],
    length_required: [411, "A Content-Length header is required."],
    not_linked: [412, "Link your Minecraft account first."],
    too_large: [413, "The body is too large."],
    part_too_large: [413, "The part is over 32 MiB or beyond the declared size."],
    unsupported_media_type: [415, "The body must be application/json."],
    rate_limited: [
      429,
      "Too many sign-in attempts from this address; wait and try again.",
      { retryAfterSeconds: 60 },
    ],
    cooldown: [429, "The server was woken a moment ago; wait and try again.", { retryAfterSeconds: 30 }],
    mail_rate_limited: [429, "The mail budget is used up; wait and try again.", { retryAfterSeconds: 60 }],
    alert_test_cooldown: [
      429,
      "A test was sent a moment ago; wait before the next one.",
      { retryAfterSeconds: 60 },
    ],
    webhook_test_cooldown: [
      429,
      "A test of this webhook was sent a moment ago; wait before the next one.",
      { retryAfterSeconds: 10 },
    ],
    backup_cooldown: [429, "A backup was made a moment ago; wait and try again.", { retryAfterSeconds: 60 }],
    drill_busy: [429, "Too many drills are running; wait and try again.", { retryAfterSeconds: 60 }],
    export_busy: [429, "Too many exports are running; wait and try again.", { retryAfterSeconds: 60 }],
    submission_cooldown: [429, "Wait a moment before the next submission.", { retryAfterSeconds: 60 }],
    invitation_rate_limited: [429, "Too many invitations; wait and try again.", { retryAfterSeconds: 60 }],
    too_many_challenges: [
      429,
      "Too many open sign-in attempts from this network; wait and try again.",
      { retryAfterSeconds: 60 },
    ],
    too_many_streams: [429, "You have too many live streams open; close one.", { retryAfterSeconds: 5 }],
    catalogue_rate_limited: [
      429,
      "Too many requests to plugin catalogues; wait a moment.",
      { retryAfterSeconds: 30 },
    ],
    too_many_uploads: [429, "You have four uploads open; finish or cancel one.", { retryAfterSeconds: 60 }],
    internal: [500, "Internal error; the cause is in the log under the request id."],
    mail_undeliverable: [502, "The mail relay refused the message."],
    read_damaged: [502, "The data was damaged in transit; try again."],
    unavailable: [503, "A part of the service is unavailable; try again in a moment."],
    overloaded: [503, "The service is overloaded; try again in a moment.", { code: "unavailable" }],
    not_ready: [503, "A dependency is not ready."],
    at_capacity: [503, "The maximum number of servers is running; try again later."],
    auth_unavailable: [503, "Accounts are unavailable; try again in a moment."],
    export_unavailable: [503, "Exports are not available on this installation."],
    catalogue_unavailable: [
      503,
      "The catalogue does not respond; try again later.",
      { retryAfterSeconds: 2 },
    ],
    files_unavailable: [503, "File operations are not available right now."],
    mail_unavailable: [503, "No mail relay is configured.", { retry: "never" }],
    node_unavailable: [503, "The node of this server is not available."],
    registry_unavailable: [503, "The image registry is unavailable; try again in a moment."],
    schedules_unavailable: [503, "Schedules are not available right now."],
    uploads_store_unavailable: [503, "The upload store is unavailable.", { retryAfterSeconds: 30 }],
    files_timeout: [504, "The file operation is taking longer than 90 s; it may still finish."],
    backup_store_full: [507, "The backup store is full."],
    volume_full: [507, "The world volume is full."],
    uploads_full: [507, "The upload area or your budget is full."],
    upload_staging_full: [507, "There is not enough free space to stage the upload."],
  }),
  ...accountFaults,
};

export type FaultName = keyof typeof faults;
/** What callers see of a fault; several may share one. */
export type FaultCode = (typeof faults)[FaultName]["code"];

/** Faults that any operation may answer without declaring them (docs/reference/http.md#errors). */
export const commonFaults = [
  "bad_request",
  "unauthorized",
  "forbidden",
  "internal",
  "unavailable",
  "overloaded",
] as const;
export type CommonFault = (typeof commonFaults)[number];

export type FaultOptions = { message?: string; retryAfterSeconds?: number; cause?: unknown };

/** Thrown by handlers, encoded once on NATS and once on HTTP. Compare by `fault`, not by class. */
export class Fault extends Error {
  readonly fault: FaultName;
  readonly retryAfterSeconds: number | undefined;

  constructor(fault: FaultName, options: FaultOptions = {}) {
    super(
      options.message ?? faults[fault].message,
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = "Fault";
    this.fault = fault;
    this.retryAfterSeconds = options.retryAfterSeconds ?? faults[fault].retryAfterSeconds;
  }
}

/** True for a `Fault` of any copy of this module. */
export function isFault(error: unknown): error is Fault {
  return error instanceof Error && error.name === "Fault" && "fault" in error && isFaultName(error.fault);
}

export function isFaultName(name: unknown): name is FaultName {
  return typeof name === "string" && Object.hasOwn(faults, name);
}
