// Objects of one installation: every expression replaced by what it is for the given values.

import { createHash } from "node:crypto";
import {
  type Condition,
  type Expression,
  isExpression,
  isKind,
  isWhen,
  pathOf,
  type Ref,
  type Template,
} from "./expression.ts";

type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain };

/** The plain value; undefined where a condition leaves it out. */
export function evaluate(template: Template, values: unknown): Plain | undefined {
  if (template === undefined) return undefined;
  if (isWhen(template)) {
    return evaluate(holds(template.condition, values) ? template.then : template.otherwise, values);
  }
  if (isExpression(template)) return evaluateExpression(template, values);
  if (Array.isArray(template)) {
    return template.map((item) => evaluate(item, values)).filter((item) => item !== undefined);
  }
  if (typeof template === "string" && isBlock(template)) return `${template.trimEnd()}\n`;
  if (typeof template !== "object" || template === null) return template as Plain;
  const entries = Object.entries(template).map(([key, value]) => [key, evaluate(value, values)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Plain;
}

/** Whether a block of text follows its key rather than one quoted line. */
export function isBlock(template: Template): boolean {
  if (typeof template === "string") return template.includes("\n");
  if (!isExpression(template)) return false;
  return isKind(template, "shared") || (isKind(template, "text") && template.parts.some(hasBreak));
}

function hasBreak(part: string | Expression): boolean {
  return typeof part === "string" && part.includes("\n");
}

function evaluateExpression(expression: Expression, values: unknown): Plain {
  if (isKind(expression, "ref")) return valueAt(expression, values);
  const result = evaluateText(expression, values);
  // A block ends with one line break, however many its last part has.
  return isBlock(expression) ? `${result.trimEnd()}\n` : result;
}

function evaluateText(part: string | Expression, values: unknown): string {
  if (typeof part === "string") return part;
  if (isKind(part, "text")) return part.parts.map((one) => evaluateText(one, values)).join("");
  if (isKind(part, "shared")) return evaluateText(part.of, values).trim();
  if (isKind(part, "json")) return goJson(evaluateExpression(part.of, values));
  if (isKind(part, "digest")) {
    const whole = evaluateText(part.of, values);
    return createHash("sha256").update(whole).digest("hex").slice(0, 8);
  }
  if (isKind(part, "lines")) return (valueAt(part.of, values) as string[]).join("\n");
  if (isKind(part, "choose"))
    return evaluateText(holds(part.when, values) ? part.then : part.otherwise, values);
  return String(valueAt(part, values));
}

function holds(condition: Condition, values: unknown): boolean {
  if (condition.is === "not") return !holds(condition.of, values);
  const value = valueAt(condition.of, values);
  if (condition.is === "equal") return value === condition.to;
  return typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

function valueAt(ref: Ref, values: unknown): Plain {
  let at = values;
  for (const key of pathOf(ref)) at = (at as Record<string, unknown> | undefined)?.[key];
  if (at === undefined) throw new Error(`the values have no ${pathOf(ref).join(".")}`);
  return at as Plain;
}

/** JSON as the templates of Helm write it. */
function goJson(value: Plain): string {
  return JSON.stringify(value).replaceAll(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
}
