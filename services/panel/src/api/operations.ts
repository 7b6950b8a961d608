// The operations that the panel can call, with the types of their contracts. Only types come from `@svc/proto`; the
// table is made by the build.

import { table } from "virtual:svc-operations";
import type * as Proto from "@svc/proto";
import type { OperationRow } from "./request.ts";

type Namespaces = typeof Proto;
type Contract = Proto.AnyContract & { http?: unknown };

/** `<namespace>.<export>` of `@svc/proto`, such as `servers.wake`. */
export type OperationName = {
  [N in keyof Namespaces & string]: {
    [M in keyof Namespaces[N] & string]: Namespaces[N][M] extends Contract ? `${N}.${M}` : never;
  }[keyof Namespaces[N] & string];
}[keyof Namespaces & string];

type ContractOf<Name extends OperationName> =
  Name extends `${infer N extends keyof Namespaces & string}.${infer M}`
    ? M extends keyof Namespaces[N]
      ? Namespaces[N][M]
      : never
    : never;

type Page = { items: unknown[]; next?: string | undefined };

/** What a caller gives: parameters, query, headers and body in one object; no cursor where a list comes whole. */
export type Input<Name extends OperationName> =
  Proto.OutputOf<ContractOf<Name>> extends Page
    ? Omit<Proto.InputOf<ContractOf<Name>>, "cursor">
    : Proto.InputOf<ContractOf<Name>>;

/** What a caller gets; a list comes as `items`, and without a cursor. */
export type Output<Name extends OperationName> =
  Proto.OutputOf<ContractOf<Name>> extends Page
    ? Omit<Proto.OutputOf<ContractOf<Name>>, "next">
    : Proto.OutputOf<ContractOf<Name>>;

export function rowOf(name: OperationName): OperationRow {
  const row = table[name];
  if (!row) throw new Error(`${name} is not an operation of the external face`);
  return row;
}
