// The text of a Helm template: the same objects, with every expression as an action on `.Values`.

import { isBlock } from "./evaluate.ts";
import {
  type Condition,
  type Expression,
  isExpression,
  isKind,
  isWhen,
  type ObjectTemplate,
  pathOf,
  type Shared,
  type Template,
} from "./expression.ts";

/** The definition of a text that several templates include. */
export function helmDefinition({ name, of }: Shared): string {
  return `{{- define "${name}" -}}\n${blockLines(of, 0).join("\n")}\n{{- end -}}\n`;
}

/** One file of a chart's templates. */
export function helmTemplate(objects: readonly ObjectTemplate[]): string {
  return `${objects.flatMap(documentOf).join("\n")}\n`;
}

function documentOf(object: ObjectTemplate): string[] {
  if (!isWhen(object)) return ["---", ...linesOf(object, 0)];
  return branches(
    object.condition,
    documentOf(object.then),
    object.otherwise && documentOf(object.otherwise),
  );
}

function branches(
  condition: Condition,
  then: string[],
  otherwise?: string[] | "" | 0 | false | null,
): string[] {
  const open = `{{- if ${conditionText(condition)} }}`;
  return [open, ...then, ...(otherwise ? ["{{- else }}", ...otherwise] : []), "{{- end }}"];
}

/** Lines of a mapping or a list, indented. */
function linesOf(template: Template, indent: number): string[] {
  if (Array.isArray(template)) return template.flatMap((item: Template) => itemLines(item, indent));
  return Object.entries(template as object).flatMap(([key, value]) => entryLines(key, value, indent));
}

function entryLines(key: string, value: Template, indent: number): string[] {
  if (value === undefined) return [];
  if (isWhen(value)) {
    const { condition, then, otherwise } = value;
    return branches(
      condition,
      entryLines(key, then, indent),
      otherwise === undefined ? undefined : entryLines(key, otherwise, indent),
    );
  }
  const head = `${" ".repeat(indent)}${keyText(key)}:`;
  if (isBlock(value)) return [`${head} |`, ...blockLines(value, indent + 2)];
  if (isLeaf(value)) return [`${head} ${leafText(value)}`];
  return [head, ...linesOf(value, indent + 2)];
}

function itemLines(item: Template, indent: number): string[] {
  if (isWhen(item)) {
    const { condition, then, otherwise } = item;
    return branches(
      condition,
      itemLines(then, indent),
      otherwise === undefined ? undefined : itemLines(otherwise, indent),
    );
  }
  const dash = `${" ".repeat(indent)}- `;
  if (isLeaf(item)) return [`${dash}${leafText(item)}`];
  const [first = "", ...rest] = linesOf(item, indent + 2);
  return [`${dash}${first.trimStart()}`, ...rest];
}

function isLeaf(value: Template): boolean {
  return (
    isExpression(value) || typeof value !== "object" || value === null || Object.keys(value).length === 0
  );
}

function leafText(value: Template): string {
  if (isExpression(value)) return `{{ toJson ${argument(value)} }}`;
  return literal(JSON.stringify(value));
}

/** Text that is not an action, although it may look like one: rules and dashboards have templates of their own. */
function literal(text: string): string {
  return text.replaceAll("{{", '{{ "{{" }}');
}

function keyText(key: string): string {
  return /^[A-Za-z_][\w./-]*$/.test(key) ? key : JSON.stringify(key);
}

function blockLines(value: Template, indent: number): string[] {
  if (isExpression(value) && isKind(value, "shared")) return [" ".repeat(indent) + inlineText(value, indent)];
  const parts =
    typeof value === "string" ? [value] : isExpression(value) && isKind(value, "text") ? value.parts : [];
  const text = parts
    .map((part) => (typeof part === "string" ? literal(part) : inlineText(part, indent)))
    .join("");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? "" : " ".repeat(indent) + line));
}

// What a value's own line breaks begin must be indented as the block is.
function inlineText(expression: Expression, indent: number): string {
  if (isKind(expression, "json")) return `{{ toJson ${argument(expression.of)} }}`;
  return `{{ ${argument(expression)} | nindent ${indent} | trim }}`;
}

function argument(part: string | Expression): string {
  if (typeof part === "string") return JSON.stringify(part);
  if (isKind(part, "ref")) return `.Values.${pathOf(part).join(".")}`;
  if (isKind(part, "json")) return `(toJson ${argument(part.of)})`;
  if (isKind(part, "shared")) return `(include "${part.name}" . | trim)`;
  if (isKind(part, "digest")) return `(${argument(part.of)} | sha256sum | trunc 8)`;
  if (isKind(part, "lines")) return `(join "\\n" ${argument(part.of)})`;
  if (isKind(part, "choose")) {
    return `(ternary ${argument(part.then)} ${argument(part.otherwise)} ${flag(part.when)})`;
  }
  const format = part.parts
    .map((one) => (typeof one === "string" ? one.replaceAll("%", "%%") : "%v"))
    .join("");
  const values = part.parts.filter((one) => typeof one !== "string");
  return values.length === 0
    ? JSON.stringify(format.replaceAll("%%", "%"))
    : `(printf ${JSON.stringify(format)} ${values.map(argument).join(" ")})`;
}

/** A condition as a boolean, which `ternary` wants. */
function flag(condition: Condition): string {
  return condition.is === "set" ? `(not (not ${argument(condition.of)}))` : conditionText(condition);
}

function conditionText(condition: Condition): string {
  if (condition.is === "set") return argument(condition.of);
  if (condition.is === "not") return `(not ${conditionText(condition.of)})`;
  const { of, to } = condition;
  return typeof to === "number"
    ? `(eq (int64 ${argument(of)}) (int64 ${to}))`
    : `(eq ${argument(of)} ${JSON.stringify(to)})`;
}
