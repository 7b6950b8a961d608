// The operator's template of a Dockerfile. Pure.

/** Fills in the values, which must be safe in a Dockerfile; `${VARIABLE}` stays. */
export function renderTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/(?<!\$)\{([a-z_]+)\}/g, (_found, name: string) => values[name] ?? "");
}
