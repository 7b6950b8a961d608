// One contract that this process answers: its callers, its load, and its counters for the services protocol.

import { type AnyContract, type FaultName, inboxPrefix, rpcSubject } from "@svc/proto";

export type Endpoint = {
  contract: AnyContract;
  subject: string;
  /** Inboxes where its callers wait for answers. */
  inboxes: readonly string[];
  inFlight: number;
  stats: { requests: number; errors: number; lastError: string; processingNs: number };
  /** Names of faults that were answered and that the contract does not declare. */
  undeclared: Set<FaultName>;
};

export function createEndpoint(contract: AnyContract): Endpoint {
  return {
    contract,
    subject: rpcSubject(contract),
    inboxes: contract.callers.map((caller) => `${inboxPrefix(caller)}.`),
    inFlight: 0,
    stats: { requests: 0, errors: 0, lastError: "", processingNs: 0 },
    undeclared: new Set(),
  };
}

/** Name in the services protocol: `lifecycle.server.read-status` is `server-read-status`. */
export function endpointName(contract: AnyContract): string {
  return contract.subject.slice(contract.owner.length + 1).replaceAll(".", "-");
}
