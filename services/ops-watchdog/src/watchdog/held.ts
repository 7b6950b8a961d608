// Whether this installation sends anything now (docs/reference/alerts.md#held).

import { readFile } from "node:fs/promises";
import type { StandbyState, WatchdogState } from "./state.ts";

/** The file of `ops_watchdog.quiet_file`, or another installation that writes to the off-site bucket. */
export type Held = "quiet_file" | "standby";

const writerRunsMs = 3 * 3_600_000;
const displacedKey = "offsite/displaced";

export async function heldBy(
  quietFile: string,
  { standby }: Pick<WatchdogState, "standby">,
  now: number,
): Promise<Held | undefined> {
  if (await isQuiet(quietFile, now)) return "quiet_file";
  return isStandby(standby, now) ? "standby" : undefined;
}

/** The installation that writes may have stopped: after three hours without a sign of it this one sends again. */
function isStandby(standby: StandbyState | undefined, now: number): standby is StandbyState {
  return standby !== undefined && now - standby.ran_at < writerRunsMs;
}

/** The state with the alerts that may be sent all the same: that this installation does not write any more. */
export function sendable(state: WatchdogState, held: Held | undefined): WatchdogState {
  if (held === undefined) return state;
  const displaced = state.alerts[displacedKey];
  const mayTell = held === "standby" && state.standby?.was_writer === true && displaced !== undefined;
  return { ...state, alerts: mayTell ? { [displacedKey]: displaced } : {} };
}

/** The file holds everything back until the Unix time in it, in seconds. */
async function isQuiet(file: string, now: number): Promise<boolean> {
  if (file === "") return false;
  const text = await readFile(file, "utf8").catch(() => "");
  const until = /^\d{1,12}$/.test(text.trim()) ? Number(text.trim()) * 1_000 : 0;
  return until > now;
}
