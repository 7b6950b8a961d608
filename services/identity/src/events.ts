// What identity reports besides its answers: audit entries (docs/reference/audit.md#entries) and metrics (docs/reference/metrics.md).

import type { Mesh } from "@svc/mesh";
import { Counter, type Registry } from "@svc/telemetry";
import { type Requester, recordAudit, requesterFields, type Subject } from "./audit/record.ts";
import type { Refusal } from "./audit/refusals.ts";
import { type CodePurpose, codePurposes, type IdentityTrx } from "./database.ts";

type Door = "email" | "op_login" | "password" | "passkey" | "bind" | "oidc";
export type FailedDoor =
  | Door
  | "cli_login"
  | "oidc_link"
  | "setup"
  | "account_email"
  | "account_migration"
  | "reauth";
type FailureReason =
  | "bad_code"
  | "bad_password"
  | "bad_assertion"
  | "no_account"
  | "staff_account"
  | "not_staff"
  | "rate_limited";
const mailKinds = [
  "code",
  "email_changed",
  "email_removed",
  "codes_locked",
  "passkey_added",
  "passkey_removed",
  "identity_linked",
  "identity_unlinked",
  "migration_issued",
  "migration_done",
  "world",
  "invitation",
] as const;
export type MailKind = (typeof mailKinds)[number];
const mailResults = ["sent", "failed", "throttled"] as const;
type MailResult = (typeof mailResults)[number];

export type Events = ReturnType<typeof createEvents>;

type EventsNeeds = {
  mesh: Pick<Mesh, "audit">;
  registry: Registry;
  /** Counts rejections of signed-in accounts instead of writing an audit entry for each. */
  countRefusal: (refusal: Refusal) => void;
};

/**
 * Changes are recorded in their transaction, so none is without its entry. A rejection has no transaction: its
 * entry is sent on a best-effort basis.
 */
export function createEvents({ mesh, registry, countRefusal }: EventsNeeds) {
  const { failures, lockouts, revoked, mails } = createCounters(registry);
  // What an alert counts starts at 0: Prometheus sees no increase in a series that begins at 1.
  for (const purpose of codePurposes) lockouts.inc({ purpose }, 0);
  for (const kind of mailKinds) for (const result of mailResults) mails.inc({ kind, result }, 0);
  return {
    signedIn: (trx: IdentityTrx, requester: Requester, { door, ...subject }: Subject & { door: Door }) =>
      recordAudit(trx, requester, { action: `auth.${door}.login`, ...subject }),
    signInFailed: (requester: Requester, about: Subject & { door: FailedDoor; reason: FailureReason }) => {
      const { door, reason, ...subject } = about;
      failures.inc({ door, reason });
      const action = `auth.${door}.failed`;
      if (requester.principal.kind === "account") {
        const { user_id: userId } = requester.principal;
        const fields = { ...requesterFields(requester, subject), actor_user_id: userId };
        return countRefusal({ ...fields, action, reason });
      }
      mesh.audit({ ...requesterFields(requester, subject), action, payload: { reason } });
    },
    codesLocked: (
      trx: IdentityTrx,
      requester: Requester,
      about: Subject & { purpose: CodePurpose; until: Date },
    ) => {
      const { purpose, until, ...subject } = about;
      lockouts.inc({ purpose });
      const payload = { purpose, locked_until: until.toISOString() };
      return recordAudit(trx, requester, { action: "auth.otp.locked", ...subject, payload });
    },
    rateLimited: (requester: Requester, about: { address: string }) =>
      mesh.audit({ ...requesterFields(requester, {}), action: "auth.rate_limited", payload: about }),
    sessionsRevoked: async (
      trx: IdentityTrx,
      requester: Requester,
      about: { count: number; action: string },
    ) => {
      if (about.count === 0) return;
      revoked.inc(about.count);
      if (about.action === "auth.logout") return;
      await recordAudit(trx, requester, { action: about.action, payload: { sessions: about.count } });
    },
    mail: (kind: MailKind, result: MailResult) => mails.inc({ kind, result }),
  };
}

function createCounters(registry: Registry) {
  const registers = [registry];
  return {
    failures: new Counter({
      name: "svc_auth_failures_total",
      help: "Rejected sign-ins and codes.",
      labelNames: ["door", "reason"],
      registers,
    }),
    lockouts: new Counter({
      name: "svc_auth_otp_lockouts_total",
      help: "Accounts locked for mailed codes after too many wrong ones.",
      labelNames: ["purpose"],
      registers,
    }),
    revoked: new Counter({
      name: "svc_sessions_revoked_total",
      help: "Sessions revoked before they expired.",
      registers,
    }),
    mails: new Counter({
      name: "svc_mail_total",
      help: "Mails by result: sent, failed, throttled.",
      labelNames: ["kind", "result"],
      registers,
    }),
  };
}
