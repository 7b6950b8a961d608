// Evaluates label selector objects for the API server and the controllers.

export type Labels = Readonly<Record<string, string>>;

/** One expression of a selector; `operator` is In, NotIn, Exists, DoesNotExist, Gt or Lt. */
export type Requirement = { key: string; operator: string; values?: readonly string[] };

/** True when the labels contain every pair of `wanted`; an empty or missing `wanted` matches everything. */
export function hasLabels(labels: Labels | undefined, wanted: Labels | undefined): boolean {
  return Object.entries(wanted ?? {}).every(([key, value]) => labels?.[key] === value);
}

/** Whether labels match one expression; an unknown operator never matches. */
export function meetsRequirement(
  labels: Labels | undefined,
  { key, operator, values = [] }: Requirement,
): boolean {
  const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}
