// The session of the command line, saved in the data folder of its stack with mode 0600.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Which host of the external face a session is for: the operator console or the players' panel. */
export type PanelHost = "admin" | "panel";
type SavedSession = { panelHost: PanelHost; value: string };

const path = (data: string) => join(data, "cli-session");

export function findSession(data: string): SavedSession | undefined {
  try {
    const [value = "", panelHost] = readFileSync(path(data), "utf8").trim().split(" ");
    return value === "" ? undefined : { value, panelHost: panelHost === "panel" ? "panel" : "admin" };
  } catch {
    return undefined;
  }
}

export function saveSession(data: string, { value, panelHost }: SavedSession): void {
  // An existing file would keep its mode, so it is removed first.
  removeSession(data);
  writeFileSync(path(data), `${value} ${panelHost}\n`, { mode: 0o600 });
}

export function removeSession(data: string): void {
  rmSync(path(data), { force: true });
}
