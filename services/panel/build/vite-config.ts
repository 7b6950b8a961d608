import { join } from "node:path";
import type { InlineConfig } from "vite";
import { firstViewPlugin } from "./first-view.ts";
import { operationTablePlugin } from "./operation-table.ts";
import { preloadWordsPlugin } from "./preload-words.ts";

const panelRoot = join(import.meta.dirname, "..");

const base =
  /node_modules\/(react|react-dom|scheduler|use-sync-external-store|@tanstack\/(react-router|router-core|history|store|react-store|react-query|query-core))\//;

/** What sign-in and every form need. */
const controls = /panel\/src\/(ui\/(button|field|css)|words\/visible)\.tsx?$/;

/** How sources are read. */
const shared = (): InlineConfig => ({
  configFile: false,
  envDir: false,
  root: panelRoot,
  logLevel: "warn",
  publicDir: false,
  css: { modules: { generateScopedName: "[local]_[hash:base64:5]" } },
});

/** Shared by the build and the development server. */
export function viteConfig(): InlineConfig {
  return {
    ...shared(),
    appType: "spa",
    plugins: [operationTablePlugin(), preloadWordsPlugin(), firstViewPlugin(shared())],
    build: {
      target: ["chrome123", "firefox121", "safari17.5"],
      // Inlined files would need exceptions in the policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1_000,
      rolldownOptions: {
        // What every page needs is one request instead of ten small ones.
        output: {
          codeSplitting: {
            groups: [
              { name: "base", test: base },
              { name: "controls", test: controls },
            ],
          },
        },
        onLog: (level, log, report) => {
          // "use client" means nothing to a page without a server part.
          if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log);
        },
      },
    },
  };
}
