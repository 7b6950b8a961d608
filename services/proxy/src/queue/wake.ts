// What an answer to a wake means for the player who asked (docs/reference/proxy.md#queue).

import type { SentenceKey } from "../text/text.ts";

/** Status 0 = no answer. */
type WakeAnswer = { status: number; code: string; retryAfterSeconds?: number | undefined };
type WakeOutcome =
  | { queue: true; retryAfterMs: number | undefined }
  | { queue: false; sentence: SentenceKey };

// While nothing says how long the cooldown lasts (docs/reference/wake.md#checks: 30 s).
const cooldownMs = 30_000;

const conflicts: Readonly<Record<string, SentenceKey>> = {
  maintenance_in_progress: "maintenance",
  world_reclaiming: "reclaiming",
  start_failed: "startFailed",
  server_retiring: "retiring",
  maintenance_window: "maintenanceNow",
};

export function wakeOutcome({ status, code, retryAfterSeconds }: WakeAnswer): WakeOutcome {
  if (status === 202) return { queue: true, retryAfterMs: undefined };
  if (status === 429) {
    return {
      queue: true,
      retryAfterMs: retryAfterSeconds === undefined ? cooldownMs : retryAfterSeconds * 1_000,
    };
  }
  return { queue: false, sentence: refusal(status, code) };
}

function refusal(status: number, code: string): SentenceKey {
  // A wrong token is our fault; the player can do nothing about it.
  if (status === 403 && code !== "wrong_caller") return "wakeForbidden";
  if (status === 409) return conflicts[code] ?? "tryAgain";
  if (status === 503 && code === "at_capacity") return "atCapacity";
  if (status === 503) return "serviceDown";
  return status === 404 ? "serverGone" : "tryAgain";
}
