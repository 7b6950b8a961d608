// Operations whose answer, or whose body, is not one JSON value.

import type { AnyContract } from "@svc/proto";

export type Marked<K extends "events" | "upload" | "download", C extends AnyContract> = {
  kind: K;
  contract: C;
};

/** Answers a stream of server-sent events. */
export const events = <C extends AnyContract>(contract: C): Marked<"events", C> => ({
  kind: "events",
  contract,
});

/** Takes the bytes of a file as its body. */
export const upload = <C extends AnyContract>(contract: C): Marked<"upload", C> => ({
  kind: "upload",
  contract,
});

/** Answers the bytes of a file. */
export const download = <C extends AnyContract>(contract: C): Marked<"download", C> => ({
  kind: "download",
  contract,
});
