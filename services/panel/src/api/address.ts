import type { Input, OperationName } from "./operations.ts";
import { rowOf } from "./operations.ts";
import { buildRequest } from "./request.ts";

/** Address of an operation that the browser itself downloads. */
export function addressOf<Name extends OperationName>(name: Name, input: Input<Name>): string {
  return buildRequest(rowOf(name), { ...input }).path;
}
