// A text component as JSON becomes the typed NBT that packets carry since 1.20.3: colours and events stay.

type Nbt =
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "byte" | "int" | "double"; readonly value: number }
  | { readonly type: "compound"; readonly value: Readonly<Record<string, Nbt>> }
  | { readonly type: "list"; readonly value: { readonly type: string; readonly value: readonly unknown[] } };

type Compound = Extract<Nbt, { type: "compound" }>;

const maxDepth = 32;

/** Throws `RangeError` for what is nested deeper than any text is. */
export function componentNbt(component: unknown, depth = 0): Compound {
  if (depth > maxDepth) throw new RangeError("the text is nested too deep");
  // A list is its first part, with the others behind it and in its style.
  if (Array.isArray(component)) {
    const [first, ...others] = component as unknown[];
    const head = componentNbt(first ?? "", depth + 1);
    if (others.length === 0) return head;
    const extra = [...partsOf(head.value["extra"]), ...others.map((part) => componentNbt(part, depth + 1))];
    return { type: "compound", value: { ...head.value, extra: listOf(extra) } };
  }
  if (component === null || typeof component !== "object") return textOf(String(component ?? ""));
  const fields = Object.entries(component).flatMap(([key, value]): [string, Nbt][] => {
    const nbt = fieldOf(key, value, depth + 1);
    return nbt === undefined ? [] : [[key, nbt]];
  });
  return { type: "compound", value: Object.fromEntries(fields) };
}

const textOf = (text: string): Compound => ({
  type: "compound",
  value: { text: { type: "string", value: text } },
});

const listOf = (parts: readonly Compound[]): Nbt => ({
  type: "list",
  value: { type: "compound", value: parts.map(({ value }) => value) },
});

function partsOf(list: Nbt | undefined): Compound[] {
  if (list?.type !== "list") return [];
  return list.value.value.map((value) => ({ type: "compound", value: value as Compound["value"] }));
}

function fieldOf(key: string, value: unknown, depth: number): Nbt | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "boolean") return { type: "byte", value: value ? 1 : 0 };
  if (typeof value === "number" && key !== "text")
    return { type: Number.isInteger(value) ? "int" : "double", value };
  if (Array.isArray(value)) return listOf(value.map((part) => componentNbt(part, depth)));
  if (typeof value === "object") return componentNbt(value, depth);
  return { type: "string", value: String(value) };
}
