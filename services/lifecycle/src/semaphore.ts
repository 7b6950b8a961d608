/** Runs at most `highest` pieces of work at a time, the others in the order they came. */
export function createLimit(highest: number): <T>(work: () => Promise<T>) => Promise<T> {
  const places = createPlaces(highest);
  return (work) => places.run(() => work());
}

/** Gives a place away for as long as `wait` takes, and comes back when there is one again. */
export type Outside = <T>(wait: () => Promise<T>) => Promise<T>;

export type Places = { run: <T>(work: (outside: Outside) => Promise<T>) => Promise<T> };

/** As `createLimit`, for work that may step aside while it waits for something slow. */
export function createPlaces(highest: number): Places {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const enter = async () => {
    if (taken >= highest) await new Promise<void>((resolve) => waiting.push(resolve));
    else taken += 1;
  };
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
  };
  const outside: Outside = async (wait) => {
    leave();
    try {
      return await wait();
    } finally {
      await enter();
    }
  };
  return {
    run: async (work) => {
      await enter();
      try {
        return await work(outside);
      } finally {
        leave();
      }
    },
  };
}
