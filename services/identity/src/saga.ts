// What spans services is a saga with a row of its own (docs/adr/0009): any number of replicas look for rows whose turn
// it is and carry each on, until there is none left.

export type SagaLoop = {
  /** Carries one row on; false when there is none whose turn it is. */
  resumeNext: () => Promise<boolean>;
  everyMs: number;
  onError: (error: unknown) => void;
};

/** Looks at once, and then again and again until closed; `close` waits for the row in hand. */
export function startSagaLoop({ resumeNext, everyMs, onError }: SagaLoop): { close: () => Promise<void> } {
  let running = Promise.resolve();
  let isClosed = false;
  const look = async () => {
    while (!isClosed && (await resumeNext()));
  };
  const tick = () => {
    running = running.then(look).catch(onError);
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
