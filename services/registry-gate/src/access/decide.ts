// Who may do what (docs/reference/registry.md#gate).

import type { Route } from "../request/route.ts";

export const accounts = ["platform", "build", "prune"] as const;
export type Account = (typeof accounts)[number];

/** `nobody` gave no name and password, `unknown` gave wrong ones. */
export type Caller = Account | "nobody" | "unknown";

export type Refusal = {
  status: 400 | 401 | 403 | 404 | 405 | 412 | 413 | 502 | 503;
  /** As the protocol of the registry names errors. */
  code: string;
  message: string;
  retryAfterSeconds?: number;
};

type Attempt = {
  method: string;
  route: Route;
  caller: Caller;
  /** False without a usable file of passwords: then nobody may write. */
  hasCredentials: boolean;
  /** True while garbage is collected. */
  isReadOnly: boolean;
};

const reservedPrefixes = ["svc/", "mirror/"];
const readMethods = ["GET", "HEAD"];
const retryAfterSeconds = 30;

export function isRead(method: string): boolean {
  return readMethods.includes(method);
}

/** Whether only the platform may write to a repository. */
export function isReserved(repository: string): boolean {
  return reservedPrefixes.some((prefix) => `${repository}/`.startsWith(prefix));
}

/** Why a request is refused; undefined when it is not. */
export function decideAccess(attempt: Attempt): Refusal | undefined {
  const { method, route, caller, hasCredentials, isReadOnly } = attempt;
  if (!methodsOf[route.kind].includes(method)) {
    return { status: 405, code: "UNSUPPORTED", message: `${method} is not supported here.` };
  }
  // Clients send their password only after this challenge.
  if (route.kind === "base") return isKnown(caller) ? undefined : unauthorized(caller);
  if (isRead(method) && route.kind !== "upload") return undefined;
  if (!hasCredentials) {
    return {
      status: 403,
      code: "DENIED",
      message: "The registry is read-only: its gate has no file of passwords.",
    };
  }
  if (!isKnown(caller)) return unauthorized(caller);
  if (!mayWrite(caller, method, route)) {
    const what = method === "DELETE" ? "delete" : `write to ${route.repository}`;
    return { status: 403, code: "DENIED", message: `${caller} may not ${what}.` };
  }
  if (isReadOnly) {
    const message = "The registry is read-only while garbage is collected; try again later.";
    return { status: 503, code: "UNAVAILABLE", message, retryAfterSeconds };
  }
  return undefined;
}

const methodsOf: Readonly<Record<Route["kind"], readonly string[]>> = {
  base: readMethods,
  catalog: readMethods,
  tags: readMethods,
  referrers: readMethods,
  manifest: [...readMethods, "PUT", "DELETE"],
  blob: [...readMethods, "DELETE"],
  "upload-start": ["POST"],
  upload: ["GET", "PATCH", "PUT", "DELETE"],
};

function mayWrite(account: Account, method: string, { kind, repository }: Route): boolean {
  if (account === "platform") return true;
  if (account === "prune") return method === "DELETE" && kind !== "upload";
  return method !== "DELETE" && !isReserved(repository);
}

function isKnown(caller: Caller): caller is Account {
  return (accounts as readonly string[]).includes(caller);
}

function unauthorized(caller: Caller): Refusal {
  const message =
    caller === "unknown" ? "The name or the password is wrong." : "Log in with a name and a password.";
  return { status: 401, code: "UNAUTHORIZED", message };
}
