// What a tile of the menu says and does. Pure; the first rule that matches wins.
//
// | server                                        | a click    | a right click |
// |-----------------------------------------------|------------|---------------|
// | ready                                         | joins      | joins         |
// | without an owner, and the player may start it | starts     | claims        |
// | without an owner                              | claims     | claims        |
// | the player may not start it                   | says why   | says why      |
// | any other                                     | starts     | starts        |

import type { Obstacle } from "../texts.ts";

/** What the proxy told of a server. */
export type ServerStatus = {
  readonly phase: string;
  readonly isReady: boolean;
  readonly playersOnline: number;
  readonly playersMax: number;
  readonly isClaimable: boolean;
  /** Seconds until it is likely to be ready. */
  readonly startSeconds?: number;
};

export type Server = {
  readonly name: string;
  /** Undefined until the proxy has answered. */
  readonly status?: ServerStatus;
  /** What this player may do; empty is unknown. */
  readonly verdict: string;
};

export type Tile =
  | {
      readonly label: "join" | "claim" | "start";
      readonly frame: "WakeRequest" | "ClaimRequest";
      /** A right click claims the server. */
      readonly isClaimable?: true;
    }
  | { readonly label: "blocked"; readonly obstacle: Obstacle };

const obstacles: readonly string[] = [
  "retiring",
  "start_failed",
  "owner_only",
  "allowlist",
] satisfies Obstacle[];

export function tileOf({ status, verdict }: Server): Tile {
  if (status?.isReady) return { label: "join", frame: "WakeRequest" };
  if (status?.isClaimable && verdict === "wake")
    return { label: "start", frame: "WakeRequest", isClaimable: true };
  if (status?.isClaimable) return { label: "claim", frame: "ClaimRequest" };
  if (isObstacle(verdict)) return { label: "blocked", obstacle: verdict };
  return { label: "start", frame: "WakeRequest" };
}

/** What this click means: the second choice of a tile that has one is behind the right button. */
export function chosen(tile: Tile, isRight: boolean): Tile {
  if (!isRight || tile.label === "blocked" || !tile.isClaimable) return tile;
  return { label: "claim", frame: "ClaimRequest" };
}

function isObstacle(verdict: string): verdict is Obstacle {
  return obstacles.includes(verdict);
}
