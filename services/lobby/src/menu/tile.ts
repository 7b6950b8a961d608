// What a tile of the menu says and does (interface.md 4.10, lobby tile rules). Pure; the first rule that matches wins.

/** What the proxy told of a server. */
export type ServerStatus = {
  readonly phase: string;
  readonly isReady: boolean;
  readonly playersOnline: number;
  readonly playersMax: number;
  readonly isClaimable: boolean;
};

export type Server = {
  readonly name: string;
  /** Undefined until the proxy has answered. */
  readonly status?: ServerStatus;
  /** What this player may do; empty is unknown. */
  readonly verdict: string;
};

/** Why a server can't be started; each has its text. */
export type Obstacle = "retiring" | "start_failed" | "owner_only" | "allowlist";

export type Tile =
  | { readonly label: "join" | "claim" | "start"; readonly frame: "WakeRequest" | "ClaimRequest" }
  | { readonly label: "blocked"; readonly obstacle: Obstacle };

const obstacles: readonly string[] = [
  "retiring",
  "start_failed",
  "owner_only",
  "allowlist",
] satisfies Obstacle[];

export function tileOf({ status, verdict }: Server): Tile {
  if (status?.isReady) return { label: "join", frame: "WakeRequest" };
  if (status?.isClaimable) return { label: "claim", frame: "ClaimRequest" };
  if (isObstacle(verdict)) return { label: "blocked", obstacle: verdict };
  return { label: "start", frame: "WakeRequest" };
}

function isObstacle(verdict: string): verdict is Obstacle {
  return obstacles.includes(verdict);
}
