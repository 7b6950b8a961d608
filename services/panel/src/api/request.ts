// From an operation and its input to a request (docs/reference/http.md#shared).

/** How one operation is called; the build makes the table of these rows from the contracts. */
export type OperationRow = {
  method: string;
  path: string;
  query?: readonly string[];
  headers?: readonly string[];
  body?: true;
  collect?: string;
};

type RequestParts = { method: string; path: string; headers: Record<string, string>; body?: string };

/** Puts each field of the input where the operation wants it. */
export function buildRequest(row: OperationRow, input: Readonly<Record<string, unknown>>): RequestParts {
  const used = new Set<string>();
  const take = (field: string) => {
    used.add(field);
    return input[field];
  };
  const path = row.path.replace(/\{([^}]+)\}/g, (_, field: string) => segmentOf(row, field, take(field)));
  const query = new URLSearchParams();
  for (const field of row.query ?? []) {
    const value = take(field);
    if (value !== undefined) query.set(field, String(value));
  }
  const headers: Record<string, string> = {};
  for (const field of row.headers ?? []) {
    const value = take(field);
    if (value !== undefined) headers[field.replaceAll("_", "-")] = String(value);
  }
  const search = query.size === 0 ? "" : `?${query}`;
  if (!row.body) return { method: row.method, path: path + search, headers };
  const rest = Object.entries(input).filter(([field, value]) => !used.has(field) && value !== undefined);
  headers["content-type"] = "application/json";
  return { method: row.method, path: path + search, headers, body: JSON.stringify(Object.fromEntries(rest)) };
}

function segmentOf(row: OperationRow, field: string, given: unknown): string {
  const value = String(given ?? "");
  // A dot segment would be resolved away and reach another operation.
  if (value === "" || value === "." || value === "..")
    throw new Error(`${row.path}: ${field} cannot be ${JSON.stringify(value)}`);
  return encodeURIComponent(value);
}
