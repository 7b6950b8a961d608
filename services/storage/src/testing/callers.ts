import type { CallOptions } from "@svc/mesh";
import { isFault } from "@svc/proto";

const client = { address: "127.0.0.1", userAgent: "test" };

/** Somebody signed in; staff when the role says so. */
export function account(user_id: string, role: "owner" | "admin" | "user" = "user"): CallOptions {
  const staff = role !== "user";
  const session = "0".repeat(64);
  return {
    client,
    principal: { kind: "account", user_id, username: user_id, role, staff, setup: false, session },
  };
}

export const staff = account("usr-staff", "owner");
export const ops: CallOptions = { client, principal: { kind: "caller", caller: "ops" } };

/** Name of the fault that a call ends in; `none` when it succeeds. */
export async function faultOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "none",
    (error: unknown) => {
      if (isFault(error)) return error.fault;
      throw error;
    },
  );
}

export async function retryAfterOf(call: Promise<unknown>): Promise<number | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => (isFault(error) ? error.retryAfterSeconds : undefined),
  );
}
