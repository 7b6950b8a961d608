// How long a server is kept from its idle stop (docs/reference/server-states.md#keep-awake).

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";

const external = { face: "external", tier: "app", path: "/api/v1/servers/{name}/keep-awake" } as const;
const params = { name: ServerNameParam };
const whole = z.number().int().min(0);

export const KeepAwake = z.strictObject({
  /** Absent: the server is not kept awake. */
  until: Timestamp.optional(),
  /** How far ahead it may be, in seconds. */
  longest_seconds: whole,
  /** Servers of its owner that are kept awake now, this one included, and how many may be. */
  servers_kept: whole,
  servers_limit: whole,
});
export type KeepAwake = z.output<typeof KeepAwake>;

export const read = operation({
  subject: "lifecycle.keep-awake.read",
  http: { ...external, method: "GET", rights: ["see"] },
  params,
  output: KeepAwake,
  faults: ["bad_name", "not_found"],
  maxInFlight: 32,
  summary: "Until when the server is kept from its idle stop, and what is allowed.",
  spec: "docs/reference/server-states.md#keep-awake",
});

export const write = operation({
  subject: "lifecycle.keep-awake.write",
  http: { ...external, method: "PUT", rights: ["power"] },
  params,
  body: { until: Timestamp },
  output: z.strictObject({ name: z.string(), until: Timestamp }),
  faults: [
    "bad_name",
    "not_found",
    "bad_keep_awake",
    "keep_awake_quota_exceeded",
    "no_idle_stop",
    "server_retiring",
  ],
  onceById: true,
  maxInFlight: 32,
  summary: "Keeps the server from its idle stop until a time; it starts nothing.",
  spec: "docs/reference/server-states.md#keep-awake",
});

export const end = operation({
  subject: "lifecycle.keep-awake.end",
  http: { ...external, method: "DELETE", status: 204, rights: ["power"] },
  params,
  output: nothing,
  faults: ["bad_name", "not_found"],
  onceById: true,
  maxInFlight: 32,
  summary: "Lets the server stop again when it is empty for its idle time.",
  spec: "docs/reference/server-states.md#keep-awake",
});
