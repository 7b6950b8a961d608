// What spans services is a saga with a row of its own (docs/adr/0009): any number of replicas poll for due rows
// and resume each, until none is left.

type SagaLoop = {
  /** Resumes one row; false when none is due. */
  resumeNext: () => Promise<boolean>;
  everyMs: number;
  onError: (error: unknown) => void;
};

/** Polls at once and then periodically until closed; `close` waits for the row in progress. */
export function startSagaLoop({ resumeNext, everyMs, onError }: SagaLoop): { close: () => Promise<void> } {
  let running = Promise.resolve();
  let isClosed = false;
  const poll = async () => {
    while (!isClosed && (await resumeNext()));
  };
  const tick = () => {
    running = running.then(poll).catch(onError);
  };
  const timer = setInterval(tick, everyMs);
  tick();
  return {
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await running;
    },
  };
}
