// Puts sign-in into the document, drawn by the components of the panel, and the script that shows it in front of the others.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type HtmlTagDescriptor, type InlineConfig, type Plugin } from "vite";
import type * as Markup from "../src/app/first-view-markup.tsx";

const source = join(import.meta.dirname, "..", "src", "app");
const script = join(source, "first-paint.ts");
/** Below the packages that the drawing imports; what a killed build leaves there is removed with abandoned builds. */
const builds = join(source, "..", "..", "..", "..", "node_modules", ".cache", "panel");

type Views = ReturnType<typeof Markup.drawFirstViews>;

/** Adds the first views to the document; `config` is how the sources are read. */
export function firstViewPlugin(config: InlineConfig): Plugin {
  let drawing: Promise<Views>;
  return {
    name: "svc-first-view",
    apply: "build",
    buildStart() {
      this.emitFile({ type: "chunk", id: script, name: "first-paint" });
      drawing = draw(config);
      // Awaited when the document is written.
      drawing.catch(() => undefined);
    },
    transformIndexHtml: {
      order: "post",
      handler: async (html, { bundle = {} }) => {
        const chunk = Object.values(bundle).find(
          (file) => file.type === "chunk" && file.facadeModuleId === script,
        );
        if (!chunk) throw new Error("the build has no script of the first view");
        const attrs = { type: "module", crossorigin: true, src: `/${chunk.fileName}` };
        return {
          html,
          tags: [{ tag: "script", attrs, injectTo: "head-prepend" }, ...(await drawing).map(templateOf)],
        };
      },
    },
  };
}

function templateOf({ name, markup }: Views[number]): HtmlTagDescriptor {
  return { tag: "template", attrs: { "data-first-view": name }, children: markup, injectTo: "body" };
}

/** Builds what draws for Node, and lets it draw. */
async function draw(config: InlineConfig): Promise<Views> {
  mkdirSync(builds, { recursive: true });
  const outDir = mkdtempSync(join(builds, ".first-view-"));
  try {
    await build({
      ...config,
      // What the build itself warns of would be said twice.
      logLevel: "error",
      build: { ssr: join(source, "first-view-markup.tsx"), outDir, emptyOutDir: false, assetsInlineLimit: 0 },
      ssr: { noExternal: true, external: ["react", "react-dom"] },
    });
    const drawn = (await import(pathToFileURL(join(outDir, "first-view-markup.js")).href)) as typeof Markup;
    return drawn.drawFirstViews();
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}
