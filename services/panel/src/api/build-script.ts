const scriptShape = /<script[^>]+src="([^"]+)"/;

/** Path of the script that starts the panel in a document: it names the build. Pure. */
export function scriptOf(html: string): string | undefined {
  return scriptShape.exec(html)?.[1];
}
