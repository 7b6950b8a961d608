// A handler that answers when the test releases it.

import type { Mesh } from "../api.ts";
import type { EchoContract } from "./contracts.ts";

type Gated = {
  /** Requests that have reached the handler. */
  count: () => number;
  release: () => void;
};

/** Serves a contract with a handler that returns its input once it is released. */
export function serveGated(mesh: Mesh, contract: EchoContract): Gated {
  const { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  mesh.serve(contract, async (_, input) => {
    count += 1;
    await promise;
    return input;
  });
  return { count: () => count, release: resolve };
}
