/** One field error of a 422, as Kubernetes lists it under `details.causes`. */
export type StatusCause = { reason: string; message: string; field: string };

/** Field errors with the messages of Kubernetes. */
export const fieldError = {
  required: (field: string, detail = ""): StatusCause => ({
    reason: "FieldValueRequired",
    message: detail ? `Required value: ${detail}` : "Required value",
    field,
  }),
  invalid: (field: string, value: unknown, detail: string): StatusCause => ({
    reason: "FieldValueInvalid",
    message: `Invalid value: ${typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? "null")}: ${detail}`,
    field,
  }),
  unsupported: (field: string, value: unknown, supported: readonly unknown[]): StatusCause => ({
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((v) => JSON.stringify(v)).join(", ")}`,
    field,
  }),
  duplicate: (field: string, value: unknown): StatusCause => ({
    reason: "FieldValueDuplicate",
    message: `Duplicate value: ${JSON.stringify(value)}`,
    field,
  }),
  forbidden: (field: string, detail: string): StatusCause => ({
    reason: "FieldValueForbidden",
    message: `Forbidden: ${detail}`,
    field,
  }),
};
