/** Paths of the scripts that a document starts, all of which name the build; undefined where it has none. Pure. */
export function scriptsOf(html: string): string | undefined {
  const tags = html.split("<script").slice(1);
  return joined(tags.flatMap((tag) => tag.split(">", 1)[0]?.split(' src="')[1]?.split('"', 1) ?? []));
}

/** The same of the document that is open; what an extension of the browser adds does not count. */
export function ownScripts(): string | undefined {
  const scripts = [...document.querySelectorAll('script[src^="/assets/"]')];
  return joined(scripts.map((script) => script.getAttribute("src") ?? ""));
}

function joined(paths: readonly string[]): string | undefined {
  return paths.length === 0 ? undefined : paths.join(" ");
}
