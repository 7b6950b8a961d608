import type { limits } from "./config.ts";

type Limits = { readonly [Name in keyof typeof limits]: number };

export type StepContext = {
  /** One line of the build's log. */
  say: (line: string) => void;
  /** Aborts when the Job is stopped. */
  signal: AbortSignal;
  limits: Limits;
};
