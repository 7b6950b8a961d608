// What the panel needs to know of each operation to call it, taken from the contracts. The schemas stay behind: they
// would double the size of the panel.

import * as proto from "@svc/proto";
import type { Plugin } from "vite";

const moduleName = "virtual:svc-operations";

/** How one operation is called: its method and path, and the fields that do not belong in the body. */
type OperationRow = {
  method: string;
  path: string;
  query?: string[];
  headers?: string[];
  /** The operation takes a JSON body, which may be empty. */
  body?: true;
  /** Member of the response that holds the items of a list. */
  collect?: string;
};

/** Rows of all operations of the external face by `<namespace>.<export>` of `@svc/proto`. */
export function operationTable(): Record<string, OperationRow> {
  const table: Record<string, OperationRow> = {};
  for (const [namespace, members] of Object.entries(proto)) {
    if (typeof members !== "object" || members === null || Array.isArray(members)) continue;
    for (const [name, member] of Object.entries(members)) {
      if (isExternal(member)) table[`${namespace}.${name}`] = rowOf(member);
    }
  }
  return table;
}

function isExternal(member: unknown): member is proto.Operation {
  if (typeof member !== "object" || member === null) return false;
  const { type, http } = member as Partial<proto.Operation>;
  return type === "request" && http !== undefined && http.faces.includes("external");
}

function rowOf({ http, query, headers, body }: proto.Operation): OperationRow {
  const queryFields = Object.keys(query.shape).filter((name) => !http.collect || name !== "cursor");
  const headerFields = Object.keys(headers.shape);
  return {
    method: http.method,
    path: http.path,
    ...(queryFields.length > 0 && { query: queryFields }),
    ...(headerFields.length > 0 && { headers: headerFields }),
    // Sign-in operations require the type even without a body.
    ...((body || http.rateLimited) && http.method !== "GET" && { body: true as const }),
    ...(http.collect !== undefined && { collect: http.collect }),
  };
}

/** Wire codes of faults after which the same request may succeed later. */
export function retriedCodes(): string[] {
  const rows = Object.values(proto.faults).filter(({ retry }) => retry === "later");
  return [...new Set(rows.map(({ code }) => code))].sort();
}

/** Provides the table as a module. */
export function operationTablePlugin(): Plugin {
  return {
    name: "svc-operations",
    resolveId: (id) => (id === moduleName ? `\0${moduleName}` : undefined),
    load: (id) => {
      if (id !== `\0${moduleName}`) return undefined;
      const table = JSON.stringify(operationTable());
      return `export const table = ${table};\nexport const retriedCodes = ${JSON.stringify(retriedCodes())};\n`;
    },
  };
}
