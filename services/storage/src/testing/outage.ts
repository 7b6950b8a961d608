// A process that hangs: it keeps its connections, subscriptions and leases, and answers nothing until resumed.

import { setTimeout as delay } from "node:timers/promises";

/** Longer than a lock or a lease lives under the settings of the kill tables. */
export const hangMs = 2_500;

type Outage = { inject: () => Promise<void>; recover: () => Promise<void> };

/** An outage that starts with `pause`; its end resumes the process after a while. */
export function hanging(pause: () => () => void): Outage {
  let proceed = () => {};
  return {
    inject: async () => {
      proceed = pause();
    },
    recover: async () => {
      await delay(hangMs);
      proceed();
    },
  };
}
