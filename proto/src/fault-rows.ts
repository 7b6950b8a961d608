// One row of the table of faults (docs/reference/errors.md).

/** Whether the same call may succeed later unchanged. Consumers turn `later` into a delayed redelivery. */
type Retry = "never" | "later";

type FaultRow = {
  status: number;
  code: string;
  retry: Retry;
  message: string;
  /** Default of Retry-After; every 429 has one. */
  retryAfterSeconds?: number;
};

type Given = readonly [status: number, message: string, extra?: Partial<FaultRow>];
type CodeOf<Name, Row> = Row extends readonly [number, string, { readonly code: infer Code }] ? Code : Name;

/** Fills in what follows from a row's name and status. */
export function rows<const T extends Record<string, Given>>(
  table: T,
): { [K in keyof T]: FaultRow & { code: CodeOf<K, T[K]> } } {
  const entries = Object.entries(table).map(([name, [status, message, extra]]) => {
    const retry: Retry = status === 429 || status === 503 || status === 504 ? "later" : "never";
    return [name, { status, code: name, retry, message, ...extra }];
  });
  return Object.fromEntries(entries) as { [K in keyof T]: FaultRow & { code: CodeOf<K, T[K]> } };
}
