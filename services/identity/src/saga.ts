// What spans services is a saga with a row of its own (docs/adr/0009): any number of replicas poll for due rows
// and resume each, until none is left.

import { startLoop } from "@svc/service/loop";

type SagaLoop = {
  /** Resumes one row; false when none is due. */
  resumeNext: () => Promise<boolean>;
  everyMs: number;
  onError: (error: unknown) => void;
};

/** Polls at once and then periodically until closed; `close` waits for the row in progress. */
export function startSagaLoop({ resumeNext, ...pauses }: SagaLoop): { close: () => Promise<void> } {
  const poll = async (signal: AbortSignal) => {
    while (!signal.aborted && (await resumeNext()));
  };
  return startLoop(poll, pauses);
}
