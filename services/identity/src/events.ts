// What identity tells the world besides its answers: audit entries (interface.md 6.4) and metrics (6.5).

import type { Mesh } from "@svc/mesh";
import type { Client, Principal } from "@svc/proto";
import { Counter, type Registry } from "@svc/telemetry";
import type { Refusal } from "./audit/refusals.ts";
import type { CodePurpose } from "./database.ts";

/** The part of a request context that an audit entry is made from. */
export type Asker = { requestId: string; principal: Principal; client: Client };
type Subject = { userId?: string; username?: string };

export type Door = "email" | "op_login" | "password" | "passkey" | "bind";
export type FailedDoor = Door | "setup" | "account_email" | "account_migration" | "reauth";
export type FailureReason =
  | "bad_code"
  | "bad_password"
  | "bad_assertion"
  | "no_account"
  | "staff_account"
  | "not_staff"
  | "rate_limited";
export type MailKind =
  | "code"
  | "email_changed"
  | "email_removed"
  | "codes_locked"
  | "passkey_added"
  | "passkey_removed"
  | "migration_issued"
  | "migration_done"
  | "world";
export type MailResult = "sent" | "failed" | "throttled";

export type Events = ReturnType<typeof createEvents>;

type EventsNeeds = {
  mesh: Pick<Mesh, "audit">;
  registry: Registry;
  /** Counts what is refused to those who are signed in, in place of an audit entry for each. */
  noteRefusal: (refusal: Refusal) => void;
};

export function createEvents({ mesh, registry, noteRefusal }: EventsNeeds) {
  const { failures, lockouts, revoked, mails } = createCounters(registry);
  const write = (asker: Asker, action: string, about: Subject & { payload?: Record<string, unknown> }) =>
    mesh.audit({ ...entryOf(asker, about), action, payload: about.payload ?? {} });
  return {
    setupRedeemed: (asker: Asker, subject: Subject) => write(asker, "auth.setup.redeem", subject),
    signedIn: (asker: Asker, { door, ...subject }: Subject & { door: Door }) =>
      write(asker, `auth.${door}.login`, subject),
    loggedOut: (asker: Asker, { userId, username }: Subject) =>
      write(asker, "auth.logout", { ...(userId && { userId }), ...(username && { username }) }),
    emailVerified: (asker: Asker, about: { replaced: boolean }) =>
      write(asker, "account.email.verified", { payload: about }),
    emailEntered: (asker: Asker, about: { replaced: boolean }) =>
      write(asker, "account.email.entered", { payload: about }),
    signInFailed: (asker: Asker, about: Subject & { door: FailedDoor; reason: FailureReason }) => {
      const { door, reason, ...subject } = about;
      failures.inc({ door, reason });
      const action = `auth.${door}.failed`;
      if (asker.principal.kind === "account") {
        const { user_id: userId } = asker.principal;
        return noteRefusal({ ...entryOf(asker, subject), actor_user_id: userId, action, reason });
      }
      write(asker, action, { ...subject, payload: { reason } });
    },
    codesLocked: (asker: Asker, about: Subject & { purpose: CodePurpose; until: Date }) => {
      const { purpose, until, ...subject } = about;
      lockouts.inc({ purpose });
      write(asker, "auth.otp.locked", {
        ...subject,
        payload: { purpose, locked_until: until.toISOString() },
      });
    },
    passkeyChanged: (asker: Asker, about: { action: "bound" | "unbound"; id: string }) =>
      write(asker, `account.passkey.${about.action}`, { payload: { passkey: about.id } }),
    rateLimited: (asker: Asker, about: { address: string }) =>
      write(asker, "auth.rate_limited", { payload: about }),
    /** `action`: opened by a door, approved or refused by a player who is staff. */
    opLogin: (asker: Asker, about: Subject & { action: "approve" | "mismatch"; requestId: string }) => {
      const { action, requestId, ...subject } = about;
      write(asker, `auth.op_login.${action}`, { ...subject, payload: { op_login: requestId } });
    },
    sessionsRevoked: (asker: Asker, about: { count: number; action: string }) => {
      if (about.count === 0) return;
      revoked.inc(about.count);
      if (about.action !== "auth.logout") write(asker, about.action, { payload: { sessions: about.count } });
    },
    mail: (kind: MailKind, result: MailResult) => mails.inc({ kind, result }),
  };
}

/** The part of an audit entry that says who asked. */
export function entryOf({ principal, client, requestId }: Asker, subject: Subject): Record<string, unknown> {
  const account = principal.kind === "account" ? principal : undefined;
  const userId = subject.userId ?? account?.user_id;
  const caller = principal.kind === "caller" ? principal.caller : undefined;
  return {
    actor: subject.username ?? account?.username ?? caller ?? "anonymous",
    ...(userId !== undefined && { actor_user_id: userId }),
    ...(client.address !== "" && { client_ip: client.address }),
    ...(client.userAgent !== "" && { user_agent: client.userAgent }),
    request_id: requestId,
    source: caller === undefined ? "external" : `internal:${caller}`,
  };
}

function createCounters(registry: Registry) {
  const registers = [registry];
  return {
    failures: new Counter({
      name: "svc_auth_failures_total",
      help: "Refused sign-ins and codes.",
      labelNames: ["door", "reason"],
      registers,
    }),
    lockouts: new Counter({
      name: "svc_auth_otp_lockouts_total",
      help: "Accounts whose mailed codes were locked after too many wrong ones.",
      labelNames: ["purpose"],
      registers,
    }),
    revoked: new Counter({
      name: "svc_sessions_revoked_total",
      help: "Sessions ended before their time.",
      registers,
    }),
    mails: new Counter({
      name: "svc_mail_total",
      help: "Mails by what became of them: sent, failed, throttled.",
      labelNames: ["kind", "result"],
      registers,
    }),
  };
}
