// What an object may hold beside plain data: values of the installation, text made of them, and parts that depend on one.
// `evaluate.ts` turns it into plain objects, `helm.ts` into the text of a chart's template.

const tag: unique symbol = Symbol("expression");
const at: unique symbol = Symbol("path");

/** A value of the installation, by its path. */
export type Ref<T = unknown> = { readonly [tag]: "ref"; readonly [at]: readonly string[]; readonly type?: T };
export type Expression =
  | Ref
  /** Parts in a row. */
  | { readonly [tag]: "text"; readonly parts: readonly (string | Expression)[] }
  /** The first eight characters of the SHA-256 of a text. */
  | { readonly [tag]: "digest"; readonly of: Expression }
  /** A value as JSON, which is a quoted string in TOML and in the configuration of NATS too. */
  | { readonly [tag]: "json"; readonly of: Expression }
  /** A text that several places use; a chart defines it once. */
  | { readonly [tag]: "shared"; readonly name: string; readonly of: Expression }
  /** The strings of a list, one on each line. */
  | { readonly [tag]: "lines"; readonly of: Ref<string[]> }
  | { readonly [tag]: "choose"; readonly when: Condition; readonly then: Part; readonly otherwise: Part };
type Part = string | Expression;
export type Shared = Extract<Expression, { readonly [tag]: "shared" }>;

export type Condition =
  | { readonly is: "set"; readonly of: Ref }
  | { readonly is: "equal"; readonly of: Ref; readonly to: string | number }
  | { readonly is: "not"; readonly of: Condition };

/** An entry of a mapping, an item of a list or a whole object that is there only if a condition holds. */
export type When = {
  readonly [tag]: "when";
  readonly condition: Condition;
  readonly then: Template;
  readonly otherwise?: Template;
};
export type Template =
  | string
  | number
  | boolean
  | null
  | undefined
  | Expression
  | When
  | readonly Template[]
  | { readonly [key: string]: Template };
/** A Kubernetes object, or one that is there only if a condition holds. */
export type ObjectTemplate = Template;

/** The values as references: `refs.nats.port` stands for the value at `nats.port`, an object for all of it. */
export type Refs<T> = Ref<T> &
  (T extends readonly unknown[]
    ? unknown
    : T extends object
      ? { readonly [K in keyof T]-?: Refs<T[K]> }
      : unknown);

/** References to the values of a schema. */
export function valueRefs<T>(path: readonly string[] = []): Refs<T> {
  const own: Record<PropertyKey, unknown> = { [tag]: "ref", [at]: path };
  return new Proxy(own, {
    get: (target, key) => (typeof key === "symbol" ? target[key] : valueRefs([...path, key])),
  }) as Refs<T>;
}

/** Where the value lies, key by key. */
export function pathOf(ref: Ref): readonly string[] {
  return ref[at];
}

export function text(strings: TemplateStringsArray, ...refs: readonly Part[]): Expression {
  const parts = strings.flatMap((string, at): Part[] => {
    const ref = refs[at];
    return ref === undefined ? [string] : [string, ref];
  });
  return { [tag]: "text", parts: parts.filter((part) => part !== "") };
}

export function digest(of: Expression): Expression {
  return { [tag]: "digest", of };
}

export function json(of: Expression): Expression {
  return { [tag]: "json", of };
}

export function shared(name: string, of: Expression): Shared {
  return { [tag]: "shared", name, of };
}

export function lines(of: Ref<string[]>): Expression {
  return { [tag]: "lines", of };
}

export function choose(when: Condition | Ref, then: Part, otherwise: Part): Expression {
  return { [tag]: "choose", when: conditionOf(when), then, otherwise };
}

export function when(condition: Condition | Ref, then: Template, otherwise?: Template): When {
  return {
    [tag]: "when",
    condition: conditionOf(condition),
    then,
    ...(otherwise !== undefined && { otherwise }),
  };
}

export function equals(of: Ref, to: string | number): Condition {
  return { is: "equal", of, to };
}

export function not(of: Condition | Ref): Condition {
  return { is: "not", of: conditionOf(of) };
}

function conditionOf(of: Condition | Ref): Condition {
  return tag in of ? { is: "set", of } : of;
}

export function isWhen(value: unknown): value is When {
  return tagOf(value) === "when";
}

export function isExpression(value: unknown): value is Expression {
  return tagOf(value) !== undefined && !isWhen(value);
}

export function isKind<K extends Expression[typeof tag]>(
  expression: Expression,
  kind: K,
): expression is Extract<Expression, { readonly [tag]: K }> {
  return expression[tag] === kind;
}

function tagOf(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (value as { [tag]?: unknown })[tag] : undefined;
}
