// Which file of the panel answers which request (docs/reference/panel.md#serving).

import type { IncomingMessage } from "node:http";
import { normalHost, type Site, type SiteAnswer } from "@svc/http-gateway";
import { chooseEncoding, type PanelFile, type PanelFiles, type PanelHosts } from "./files.ts";

/** Everything from this origin alone, no inline script or style, and no script made from text. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const closedFeatures = ["camera", "microphone", "geolocation", "usb", "payment"];
const pageHeaders = [
  "Cross-Origin-Opener-Policy",
  "same-origin",
  "Permissions-Policy",
  closedFeatures.map((feature) => `${feature}=()`).join(", "),
] as const;

/** Paths of the API and of probes; there the panel has nothing. */
const reserved: ReadonlySet<string> = new Set(["api", "session", "healthz", "readyz", "metrics"]);
const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"]);

/** Serves the panel on its two hosts, and sends a browser at a loopback address there. */
export function createPanelSite(files: PanelFiles, hosts: PanelHosts): Site {
  const panel = normalHost(hosts.panel);
  const admin = normalHost(hosts.admin);
  return {
    answer: (request, path, hostHeader) => {
      if (request.method !== "GET" && request.method !== "HEAD") return undefined;
      const host = normalHost(hostHeader);
      if (host === panel || host === admin)
        return serve(files, request, { path, host: host === admin ? "operator" : "player" });
      return path === "/" && loopback.has(host) ? redirect(request, hosts.panel, hostHeader) : undefined;
    },
  };
}

type Asked = { path: string; host: "player" | "operator" };

function serve(files: PanelFiles, request: IncomingMessage, asked: Asked): SiteAnswer | undefined {
  const { path, host } = asked;
  if (path.startsWith("/assets/")) {
    const asset = files.assets.get(path);
    if (!asset || (asset.until !== undefined && asset.until <= Date.now())) return undefined;
    return answerWith(asset, request, {
      status: 200,
      route: "/assets/{file}",
      caching: "public, max-age=31536000, immutable",
    });
  }
  if (!isPagePath(path)) return undefined;
  const isKnown = files.routes.some(
    (route) => (route.host === undefined || route.host === host) && matches(route.path, path),
  );
  return answerWith(files.documents[host], request, {
    status: isKnown ? 200 : 404,
    route: "panel",
    caching: "no-cache",
  });
}

function isPagePath(path: string): boolean {
  const segments = path.split("/");
  return path.startsWith("/") && !reserved.has(segments[1] ?? "") && !segments.at(-1)?.includes(".");
}

/** Whether a path is one of a pattern of the build, for `:name` any segment. A trailing slash does not count. */
function matches(pattern: string, path: string): boolean {
  const given = path.replace(/(?<=.)\/$/, "").split("/");
  const wanted = pattern.split("/");
  if (wanted.length !== given.length) return false;
  return wanted.every((part, at) => (part.startsWith(":") ? given[at] !== "" : part === given[at]));
}

function answerWith(
  file: PanelFile,
  request: IncomingMessage,
  about: { status: number; route: string; caching: string },
): SiteAnswer {
  const encoding = chooseEncoding(file, String(request.headers["accept-encoding"] ?? ""));
  const etag = `"${file.tag}-${encoding}"`;
  const headers = [...pageHeaders, "Cache-Control", about.caching, "Vary", "Accept-Encoding", "ETag", etag];
  const { status, route } = about;
  if (status === 200 && isSame(request.headers["if-none-match"], etag))
    return { status: 304, route, headers, policy };
  headers.push("Content-Type", file.contentType);
  if (encoding !== "identity") headers.push("Content-Encoding", encoding);
  return { status, route, headers, policy, body: file.bodies[encoding] ?? file.bodies.identity };
}

function isSame(wanted: string | undefined, etag: string): boolean {
  if (wanted === undefined) return false;
  return wanted === "*" || wanted.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

/** Only for a browser that loads a page; programs at this address are answered as before. */
function redirect(request: IncomingMessage, panelHost: string, hostHeader: string): SiteAnswer | undefined {
  if (!request.headers.accept?.includes("text/html")) return undefined;
  const port = /:(\d+)$/.exec(hostHeader)?.[0] ?? "";
  const headers = ["Location", `http://${panelHost}${port}/`, "Cache-Control", "no-store"];
  return { status: 302, route: "panel", headers };
}
