// Numbers of world moves (docs/reference/moves.md#steps).

import { duration } from "@svc/config";

/** Keys of `[storage]`. */
export const moveSettings = {
  /** How often moves under way are looked at. */
  move_interval: duration("2s"),
  /** Longest time of the Job that carries a world to or from its archive. */
  move_deadline: duration("2h"),
  /** How long a Job may use its right to send or fetch the archive. */
  move_ticket: duration("2h"),
  /** A move whose lock did not come about for so long was never begun. */
  move_start_patience: duration("2m"),
};
