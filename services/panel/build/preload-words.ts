// The first words of the person's language are fetched by the first script. Named in the document they are there when it asks: on a
// slow line that is one way there and back less before anything is drawn. Who speaks the other language has a few KB for nothing.

import type { HtmlTagDescriptor, Plugin } from "vite";

const firstWords = /\/src\/words\/[a-z-]+\/first\.ts$/;

/** Adds the chunks of the first words to the document as preloads. */
export function preloadWordsPlugin(): Plugin {
  return {
    name: "svc-preload-words",
    transformIndexHtml: {
      order: "post",
      handler: (_, { bundle = {} }) =>
        Object.values(bundle).flatMap((file): HtmlTagDescriptor[] => {
          if (file.type !== "chunk" || !firstWords.test(file.facadeModuleId ?? "")) return [];
          const attrs = { rel: "modulepreload", crossorigin: true, href: `/${file.fileName}` };
          return [{ tag: "link", attrs, injectTo: "head" }];
        }),
    },
  };
}
