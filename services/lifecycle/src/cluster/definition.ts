// What the cluster's definition of servers may lack during an upgrade (docs/reference/server-resource.md).

import { Fault } from "@svc/proto";

/** A cluster with an older definition of servers drops fields that it does not know, so what was asked for was not done. */
export function assertKept(isKept: boolean, what: string): void {
  if (isKept) return;
  throw new Fault("unavailable", {
    message: `The cluster does not know ${what} yet; an operator has to install the new definition.`,
  });
}
