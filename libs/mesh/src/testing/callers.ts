// Callers for tests, and the outcome of a call.

import { isFault, type TokenGrant } from "@svc/proto";
import type { CallOptions } from "../api.ts";

const client = { address: "127.0.0.1", userAgent: "test" };

/** A signed-in account; staff unless its role is `user`. */
export function account(user_id: string, role: "owner" | "admin" | "user" = "user"): CallOptions {
  const staff = role !== "user";
  const session = "0".repeat(64);
  return {
    client,
    principal: { kind: "account", user_id, username: user_id, role, staff, setup: false, session },
  };
}

/** An account that calls with an API token. */
export function tokenOf(user_id: string, grant: Omit<TokenGrant, "id">): CallOptions {
  const caller = account(user_id);
  const token = { id: "tok", ...grant };
  return caller.principal?.kind === "account"
    ? { ...caller, principal: { ...caller.principal, token } }
    : caller;
}

/** The owner of the installation. */
export const staff = account("usr-staff", "owner");
/** The proxy, and the holder of the operations token. */
export const velocity: CallOptions = { client, principal: { kind: "caller", caller: "velocity" } };
export const ops: CallOptions = { client, principal: { kind: "caller", caller: "ops" } };

/** Name of the fault that a call ends with; `none` when it succeeds. */
export async function faultOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "none",
    (error: unknown) => {
      if (isFault(error)) return error.fault;
      throw error;
    },
  );
}

/** Seconds of the `Retry-After` of a fault. */
export async function retryAfterOf(call: Promise<unknown>): Promise<number | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => (isFault(error) ? error.retryAfterSeconds : undefined),
  );
}
