/** The plain text of a text component, as `tellraw` takes it: a string, an object with `text` and `extra`, or a list. */
export function plainText(component: unknown): string {
  if (typeof component === "string") return component;
  if (typeof component === "number" || typeof component === "boolean") return String(component);
  if (Array.isArray(component)) return component.map(plainText).join("");
  if (typeof component !== "object" || component === null) return "";
  const { text, translate, extra } = component as { text?: unknown; translate?: unknown; extra?: unknown };
  return plainText(text ?? translate) + plainText(extra);
}
