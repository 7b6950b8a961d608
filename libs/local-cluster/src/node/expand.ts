/** Replaces `$(NAME)` as Kubernetes does: an unknown name stays as it is, `$$` is one dollar sign. */
export function expand(text: string, values: Record<string, string>): string {
  return text.replace(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) => {
    if (whole === "$$") return "$";
    return name === undefined ? whole : (values[name] ?? whole);
  });
}
