import type { Output } from "../api/operations.ts";

type Steps =
  | { at: "start" }
  | { at: "confirm" }
  /** `until`: when the proof or the code stops counting, in milliseconds. */
  | { at: "choose"; until: number }
  | { at: "issued"; until: number };

export type TransferStep<At extends Steps["at"]> = Extract<Steps, { at: At }>;

/** What the giver has to do next (docs/reference/server-transfer.md#states). */
export function decideStep(view: Output<"accountMigrations.read">): Steps {
  const { active, state, confirm_expires_at, code_expires_at } = view;
  if (!active) return { at: "start" };
  if (state === "confirmed") return { at: "choose", until: timeOf(confirm_expires_at) };
  if (state === "code_issued") return { at: "issued", until: timeOf(code_expires_at) };
  return { at: "confirm" };
}

function timeOf(text: string | undefined): number {
  return text === undefined ? 0 : Date.parse(text);
}
