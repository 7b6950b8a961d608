import type { KubeObject } from "../cluster-api.ts";
import { hasLabels, type Labels, meetsRequirement, type Requirement } from "../label-selector.ts";
import { badRequest } from "./api-status.ts";
import { isObject, valueAt } from "./json.ts";

/** Whether an object is selected. */
export type Predicate = (object: KubeObject) => boolean;

const keyPattern = /^([a-z0-9A-Z.-]{1,253}\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Reads a label selector such as `app=x,tier!=db,env in (a, b),!old`. Throws 400 for invalid syntax. */
export function parseLabelSelector(text: string): Predicate | undefined {
  const requirements = splitSelector(text).map(parseRequirement);
  if (requirements.length === 0) return undefined;
  return (object) => {
    const { labels } = object.metadata;
    return requirements.every((requirement) => meetsRequirement(labels, requirement));
  };
}

/** Whether labels meet a `metav1.LabelSelector` object; an empty one meets everything. */
export function matchesLabelSelector(selector: unknown, labels: Labels): boolean {
  if (!isObject(selector)) return false;
  const { matchLabels, matchExpressions } = selector as {
    matchLabels?: Labels;
    matchExpressions?: Requirement[];
  };
  return (
    hasLabels(labels, matchLabels) && (matchExpressions ?? []).every((one) => meetsRequirement(labels, one))
  );
}

// Commas inside (a,b) belong to the set, not to the list of requirements.
function splitSelector(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === "(") depth += 1;
    if (text[index] === ")") depth -= 1;
    if (text[index] !== "," || depth > 0) continue;
    parts.push(text.slice(start, index));
    start = index + 1;
  }
  parts.push(text.slice(start));
  if (depth !== 0)
    throw badRequest("unable to parse requirement: found '', expected: ',', ')' or identifier");
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

function parseRequirement(part: string): Requirement {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(part);
  if (set) {
    const values = (set[3] ?? "").split(",").map((value) => value.trim());
    return checked({ key: set[1] ?? "", operator: set[2] === "in" ? "In" : "NotIn", values });
  }
  const equality = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/.exec(part);
  if (equality) {
    return checked({
      key: equality[1] ?? "",
      operator: equality[2] === "!=" ? "NotIn" : "In",
      values: [equality[3] ?? ""],
    });
  }
  const absent = /^!\s*(\S+)$/.exec(part);
  if (absent) return checked({ key: absent[1] ?? "", operator: "DoesNotExist" });
  return checked({ key: part, operator: "Exists" });
}

function checked(requirement: Requirement): Requirement {
  if (!keyPattern.test(requirement.key)) {
    throw badRequest(
      `unable to parse requirement: <nil>: Invalid value: "${requirement.key}": not a valid label key`,
    );
  }
  for (const value of requirement.values ?? []) {
    if (value === "" || /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(value)) continue;
    throw badRequest(
      `unable to parse requirement: values: Invalid value: "${value}": not a valid label value`,
    );
  }
  return requirement;
}

const commonFields = ["metadata.name", "metadata.namespace"];
const fieldsByStorage: Record<string, string[]> = {
  "/pods": [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
  ],
  "/secrets": ["type"],
  "/namespaces": ["status.phase"],
  "/nodes": ["spec.unschedulable"],
  "/events": [
    ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(
      (f) => `involvedObject.${f}`,
    ),
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  "batch/jobs": ["status.successful"],
};

/** Reads a field selector such as `status.phase=Running,spec.nodeName!=a`; 400 for a field the kind does not support. */
export function parseFieldSelector(text: string, storageKey: string): Predicate | undefined {
  const terms = text.split(",").filter((term) => term.trim() !== "");
  if (terms.length === 0) return undefined;
  const allowed = [...commonFields, ...(fieldsByStorage[storageKey] ?? [])];
  const checks = terms.map((term) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(term.trimStart());
    if (!match) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    const [, field = "", operator, wanted] = match;
    if (!allowed.includes(field)) throw badRequest(`field label not supported: ${field}`);
    const path = (field === "source" ? "source.component" : field).split(".");
    return (object: KubeObject) => {
      const value = valueAt(object, path);
      return ((value === undefined ? "" : String(value)) === wanted) !== (operator === "!=");
    };
  });
  return (object) => checks.every((check) => check(object));
}

/** The name in a field selector (`metadata.name=x`), so that a list can be a lookup. */
export function selectedName(fieldSelector: string): string | undefined {
  return /(?:^|,)metadata\.name==?([^,]+)/.exec(fieldSelector)?.[1];
}

/** Both conditions, or the only one. */
export function both(a: Predicate | undefined, b: Predicate | undefined): Predicate | undefined {
  if (!a || !b) return a ?? b;
  return (object) => a(object) && b(object);
}
