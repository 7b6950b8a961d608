// What a run knows of the state while it sends: the file, or what could not be saved for the rest of the run.

import { emptyState, type WatchdogState } from "./state.ts";
import { type StateFile, StateUnsavableError } from "./state-file.ts";

export type RunState = {
  /** One change after the other. */
  change: (to: (before: WatchdogState) => WatchdogState) => Promise<void>;
  state: () => WatchdogState;
  kind: () => "saved" | "copied" | "lost";
};

export function createRunState(file: StateFile): RunState {
  let state = emptyState();
  let kind: ReturnType<RunState["kind"]> = "saved";
  let last: Promise<void> = Promise.resolve();
  const change = async (to: (before: WatchdogState) => WatchdogState) => {
    try {
      const written = await file.update(to);
      state = written.state;
      kind = written.problem === undefined ? "saved" : "copied";
    } catch (error) {
      if (!(error instanceof StateUnsavableError)) throw error;
      state = to(kind === "lost" ? state : await file.read());
      kind = "lost";
    }
  };
  return {
    state: () => state,
    kind: () => kind,
    change: (to) => {
      const changed = last.then(() => change(to));
      last = changed.catch(() => undefined);
      return changed;
    },
  };
}
