// What svc does by itself with a server that crashed or hangs (docs/reference/crashes.md#policy).

import { z } from "zod";
import { operation } from "../contract.ts";
import { ServerNameParam } from "./names.ts";

export const AfterCrash = z.enum(["restart", "stop"]);
export const WhenHung = z.enum(["restart", "restart_if_silent", "leave"]);

const policy = {
  /** Whether the cluster starts it again, or it stays stopped until somebody wakes it. */
  after_crash: AfterCrash,
  /** Whether a process that runs and does not answer is replaced. */
  when_hung: WhenHung,
  /** For `restart_if_silent`: so long neither RCON nor the log may have said anything; twice that with players on. */
  silent_minutes: z.number().int().min(5).max(120),
};

export const RestartPolicy = z.strictObject(policy);
export type RestartPolicy = z.output<typeof RestartPolicy>;

export const defaultRestartPolicy: RestartPolicy = {
  after_crash: "restart",
  when_hung: "restart",
  silent_minutes: 10,
};

const external = { face: "external", tier: "app", path: "/api/v1/servers/{name}/restart-policy" } as const;
const params = { name: ServerNameParam };

export const read = operation({
  subject: "lifecycle.restart-policy.read",
  http: { ...external, method: "GET", rights: ["see"] },
  params,
  output: RestartPolicy,
  faults: ["bad_name", "not_found"],
  maxInFlight: 32,
  summary: "What svc does by itself when the server crashes or hangs.",
  spec: "docs/reference/crashes.md#policy",
});

export const write = operation({
  subject: "lifecycle.restart-policy.write",
  http: { ...external, method: "PUT", rights: ["settings"] },
  params,
  body: policy,
  output: RestartPolicy,
  faults: ["bad_name", "not_found"],
  onceById: true,
  summary: "Sets what svc does by itself when the server crashes or hangs.",
  spec: "docs/reference/crashes.md#policy",
});
