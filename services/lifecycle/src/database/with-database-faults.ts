import { asFault } from "@svc/store";

/** As `work`, with a lost database as the fault `unavailable`. */
export function withDatabaseFaults<A extends unknown[], R>(
  work: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return (...args) =>
    work(...args).catch((error: unknown) => {
      throw asFault(error);
    });
}
