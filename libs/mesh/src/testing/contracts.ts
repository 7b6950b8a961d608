// Contracts for the tests of this library: the subjects are real ones, so that the shipped permissions apply.

import { type Contract, servers } from "@svc/proto";
import { z } from "zod";

type Number1 = { n: number };
export type EchoContract = Contract<Number1, Number1, "not_found" | "cooldown">;

/** lifecycle answers, gateway-internal may call; must not be repeated. */
export const change: EchoContract = {
  ...servers.reportJoin,
  input: z.strictObject({ n: z.number() }),
  output: z.strictObject({ n: z.number() }),
  faults: ["not_found", "cooldown"],
  onceById: false,
};

/** lifecycle answers, gateway-internal may call; its owner records the outcome. */
export const changeOnce: EchoContract = {
  ...change,
  subject: servers.reportReady.subject,
  onceById: true,
};

/** lifecycle answers, gateway-internal may call; may be repeated. */
export const read: EchoContract = {
  ...change,
  subject: servers.readStatus.subject,
  idempotent: true,
};

/** An answer of any size. */
export const text: Contract<{ length: number }, { text: string }> = {
  ...servers.list,
  input: z.strictObject({ length: z.number() }),
  output: z.strictObject({ text: z.string() }),
  faults: [],
};
