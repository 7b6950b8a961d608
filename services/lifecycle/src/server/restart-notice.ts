// Whether a server restarts now, later or not at all (docs/reference/server-states.md#restart). Pure.

import { type Sentence, sayInAll } from "@svc/proto/language";
import { annotation, hasRcon, type Server, wantsToRun } from "../cluster/resource.ts";

type RestartDecision =
  | { kind: "not-running" }
  /** Somebody asked before, and it has not happened yet. */
  | { kind: "pending"; at: number }
  /** `tells`: players are on, or may be, and have until then. */
  | { kind: "restart"; at: number; tells: boolean };

/** Times are in Unix milliseconds. */
export function decideRestart(server: Server, about: { now: number; noticeMs: number }): RestartDecision {
  const { now, noticeMs } = about;
  if (!wantsToRun(server) || server.status?.phase !== "Running") return { kind: "not-running" };
  const pending = restartAt(server);
  if (pending !== undefined) return { kind: "pending", at: pending };
  const tells = hasRcon(server) && server.status.players?.online !== 0;
  return { kind: "restart", at: tells ? now + noticeMs : now, tells };
}

/** When a requested restart is due; undefined without one. What is no time is due since ever. */
export function restartAt({ metadata }: Pick<Server, "metadata">): number | undefined {
  const value = metadata.annotations?.[annotation.restart];
  if (value === undefined) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : at;
}

const warning: Sentence = {
  en: "The server restarts in {seconds} seconds.",
  zh: "服务器将在 {seconds} 秒后重启。",
};

/** The console command that shows all players one line, in yellow and in both languages. */
export function restartCommand(seconds: number): string {
  const text = sayInAll(warning, " ", { seconds });
  return `tellraw @a ${JSON.stringify({ text, color: "yellow" })}`;
}
