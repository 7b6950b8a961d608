// The development server: sources as they are on disk, everything else from a running stack.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { createServer, type Plugin } from "vite";
import { viteConfig } from "./vite-config.ts";

type StackFile = { external_base_url: string; root_domain: string; panel_host: string; admin_host: string };

const port = 5173;

/** Serves the panel on both hosts at port 5173 until the process ends. */
export async function serveForDevelopment(data: string): Promise<void> {
  const stack = JSON.parse(readFileSync(join(data, "stack.json"), "utf8")) as StackFile;
  const config = viteConfig();
  const server = await createServer({
    ...config,
    logLevel: "info",
    plugins: [react(), ...(config.plugins ?? []), hostsPlugin(stack)],
    server: {
      host: "127.0.0.1",
      port,
      strictPort: true,
      allowedHosts: [stack.panel_host, stack.admin_host],
      proxy: { "/api": { target: stack.external_base_url } },
    },
  });
  await server.listen();
  for (const host of [stack.panel_host, stack.admin_host]) console.log(`  http://${host}:${port}/`);
}

/** Fills in the document as the gateway does. */
function hostsPlugin(stack: StackFile): Plugin {
  let host = "player";
  return {
    name: "svc-hosts",
    configureServer: ({ middlewares }) =>
      void middlewares.use((request, _response, next) => {
        host = request.headers.host?.startsWith(stack.admin_host) ? "operator" : "player";
        next();
      }),
    transformIndexHtml: (html) =>
      html
        .replace("%SVC_HOST%", host)
        .replace("%SVC_PANEL_HOST%", stack.panel_host)
        .replace("%SVC_ADMIN_HOST%", stack.admin_host)
        .replace("%SVC_ROOT_DOMAIN%", stack.root_domain),
  };
}
