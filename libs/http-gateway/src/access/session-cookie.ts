// The session cookie (docs/reference/sign-in.md#session).

import { hash } from "node:crypto";
import { Fault, type SessionGrant } from "@svc/proto";

const name = "svc_session";
const attributes = "Path=/; HttpOnly; Secure; SameSite=Lax";

/** The session of a Cookie header: none, the sha-256 (hex) of its value, or a malformed one. */
type PresentedSession =
  | { kind: "none" }
  | { kind: "hash"; hash: string }
  | { kind: "unusable"; fault: Fault };

/** Reads the session from a Cookie header. A malformed cookie never counts as none. */
export function presentedSession(header: string | undefined): PresentedSession {
  if (header === undefined || !header.includes(name)) return { kind: "none" };
  const values = header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [value] = values;
  if (value === undefined) return { kind: "none" };
  if (values.length > 1)
    return unusable("more than one svc_session cookie was sent; clear this site's cookies");
  if (!/^[A-Za-z0-9_-]{43}$/.test(value)) return unusable("the cookie is malformed; sign in again");
  return { kind: "hash", hash: hash("sha256", value) };
}

function unusable(reason: string): PresentedSession {
  return {
    kind: "unusable",
    fault: new Fault("session_invalid", { message: `invalid session: ${reason}.` }),
  };
}

/** Value of Set-Cookie that mints the session, or clears it for `null`. */
export function sessionCookie(grant: SessionGrant): string {
  if (grant === null) return `${name}=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributes}`;
  return `${name}=${grant.value}; Expires=${new Date(grant.expires_at).toUTCString()}; ${attributes}`;
}
