/** Expands `$(NAME)` as Kubernetes does: an unknown name is kept, `$$` becomes one dollar sign. */
export function expand(text: string, values: Record<string, string>): string {
  let expanded = "";
  let at = 0;
  // The closing bracket is searched once: a text of only opening ones takes linear time.
  const last = text.lastIndexOf(")");
  for (;;) {
    const dollar = text.indexOf("$", at);
    if (dollar < 0) return expanded + text.slice(at);
    expanded += text.slice(at, dollar);
    const next = text[dollar + 1];
    const end = next === "(" && dollar < last ? text.indexOf(")", dollar) : -1;
    at = next === "$" ? dollar + 2 : end < 0 ? dollar + 1 : end + 1;
    const name = end < 0 ? undefined : text.slice(dollar + 2, end);
    expanded += name === undefined ? "$" : (values[name] ?? text.slice(dollar, at));
  }
}
