import type { schedules } from "@svc/proto";
import type { Observed } from "./observed.ts";

export type Result = Exclude<schedules.RunResult, "">;
export type Ending = {
  result: Result;
  detail: string;
  code?: schedules.RunCode | undefined;
  chain_code?: schedules.ChainCode | undefined;
  /** The fault of a refused request. */
  cause?: string | undefined;
};

/** How a run ended, as its row keeps it. */
export function endingColumns({ result, detail, code, chain_code, cause }: Ending) {
  return {
    last_result: result,
    last_detail: detail,
    last_code: code ?? "",
    chain_code: chain_code ?? "",
    last_cause: cause ?? "",
  } as const;
}

/** Of a run that has not ended. */
export const noEnding = {
  last_result: "",
  last_detail: "",
  last_code: "",
  chain_code: "",
  last_cause: "",
} as const;

/** What happens next to one task. */
export type Plan =
  | { kind: "rest" }
  | { kind: "disable"; code: schedules.RunCode; detail: string }
  | { kind: "warn"; minutes: number }
  | { kind: "miss"; next: number; code: schedules.RunCode; detail: string }
  | { kind: "claim"; next: number }
  | { kind: "command" }
  | { kind: "stop" }
  | { kind: "start" }
  | { kind: "ask-backup" }
  | { kind: "read-backup" }
  | {
      kind: "enter";
      state: "stopping" | "backing_up" | "starting";
      /** The run starts the server again when it is through. */
      startsAgain: boolean;
      /** Storage job that the run waits for. */
      job?: string;
      /** How the run ends once the server has been started again. */
      pendingEnding?: Ending;
    }
  | { kind: "begin-step" }
  /** The step of the run has ended. */
  | ({ kind: "finish" } & Ending)
  /** Goes on to the next step, which begins at `at`; `endings` are those of all steps so far. */
  | { kind: "continue"; endings: readonly Ending[]; at: number }
  /** Ends the run; `action` is that of the step which `ending` is about, `endings` are empty for a task of one step. */
  | { kind: "end"; ending: Ending; endings: readonly Ending[]; action: schedules.ScheduleAction };

export const rest: Plan = { kind: "rest" };

export function finish(result: Result, detail = "", code?: schedules.RunCode): Plan {
  return { kind: "finish", result, detail, ...(code && { code }) };
}

/** Ends a step; starts the server again first when the run stopped it. */
export function endWith({ row }: Pick<Observed, "row">, ending: Ending): Plan {
  if (!row.run_resume) return { kind: "finish", ...ending };
  return { kind: "enter", state: "starting", startsAgain: true, pendingEnding: ending };
}
