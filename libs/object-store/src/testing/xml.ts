const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#13;",
};

export type Element =
  | string
  | number
  | boolean
  | { [name: string]: Element | readonly Element[] | undefined };

/** An XML document of nested objects; a list repeats its element. */
export function xml(root: string, content: Element): Buffer {
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${element(root, content)}`);
}

function element(name: string, content: Element | readonly Element[] | undefined): string {
  if (content === undefined) return "";
  if (Array.isArray(content)) return content.map((one: Element) => element(name, one)).join("");
  if (typeof content !== "object")
    return `<${name}>${String(content).replace(/[&<>"\r]/g, (char) => escapes[char] ?? char)}</${name}>`;
  const inner = Object.entries(content).map(([child, value]) => element(child, value));
  return `<${name}>${inner.join("")}</${name}>`;
}
