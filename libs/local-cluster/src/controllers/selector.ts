import type { NodeSelectorTerm, Selector } from "./objects.ts";

type Labels = Record<string, string> | undefined;
type Requirement = { key: string; operator: string; values?: string[] };

/** True when every pair of `wanted` is among the labels; an empty or missing `wanted` matches everything. */
export function hasLabels(labels: Labels, wanted: Record<string, string> | undefined): boolean {
  return Object.entries(wanted ?? {}).every(([key, value]) => labels?.[key] === value);
}

function meets(labels: Labels, { key, operator, values = [] }: Requirement): boolean {
  const value = labels?.[key];
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

export function matchesSelector(labels: Labels, selector: Selector | undefined): boolean {
  return (
    hasLabels(labels, selector?.matchLabels) &&
    (selector?.matchExpressions ?? []).every((one) => meets(labels, one))
  );
}

/** Node selector terms are alternatives; the expressions within one must all hold. */
export function matchesTerms(labels: Labels, terms: NodeSelectorTerm[]): boolean {
  return terms.some((term) => (term.matchExpressions ?? []).every((one) => meets(labels, one)));
}
