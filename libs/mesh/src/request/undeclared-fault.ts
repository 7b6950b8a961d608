// A handler can throw any fault without the compiler noticing, but callers expect only those that its contract declares.

import { commonFaults, type FaultName } from "@svc/proto";
import type { Core } from "../core.ts";
import type { Endpoint } from "./endpoint.ts";

let isFatal = false;

/** Makes an undeclared fault an uncaught exception too, so that node:test fails the test that caused it. */
export function failOnUndeclaredFaults(): void {
  isFatal = true;
}

const common: ReadonlySet<FaultName> = new Set(commonFaults);

/** Counts an answered fault that the contract does not declare, and logs the first of its name. */
export function noteUndeclaredFault(core: Core, endpoint: Endpoint, fault: FaultName): void {
  const { contract, undeclared } = endpoint;
  if (common.has(fault) || contract.faults.includes(fault)) return;
  const { subject } = contract;
  core.metrics.undeclaredFault(subject, fault);
  if (isFatal) {
    queueMicrotask(() => {
      throw new Error(`the contract ${subject} does not declare the fault ${fault}`);
    });
  }
  if (undeclared.has(fault)) return;
  undeclared.add(fault);
  core.log.error({ subject, fault }, "answered a fault that the contract does not declare");
}
