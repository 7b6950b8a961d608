// Numbers of world moves (docs/reference/moves.md#steps).

import { duration } from "@svc/config";

/** Keys of `[storage]`. */
export const moveSettings = {
  /** How often moves in progress are reconciled. */
  move_interval: duration("2s"),
  /** Deadline of the Jobs of a move. */
  move_deadline: duration("2h"),
  /** Lifetime of a Job's ticket to send or fetch the archive. */
  move_ticket: duration("2h"),
  /** A move without its lock after this time was never started. */
  move_start_patience: duration("2m"),
};
