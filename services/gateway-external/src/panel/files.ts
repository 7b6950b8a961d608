// The built panel in memory (docs/reference/panel.md#serving).

import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { takesEncoding } from "@svc/http-gateway";
import { z } from "zod";

const encodings = ["br", "gzip", "identity"] as const;
type Encoding = (typeof encodings)[number];

/** One file with its packed forms; a form is missing where packing gains nothing. */
export type PanelFile = {
  contentType: string;
  /** Of the unpacked bytes, without quotes. */
  tag: string;
  bodies: Partial<Record<Encoding, Uint8Array>> & { identity: Uint8Array };
};

export type PanelFiles = {
  /** By path, such as `/assets/main-4f5c.js`. */
  assets: ReadonlyMap<string, PanelFile & { until?: number }>;
  documents: Record<"player" | "operator", PanelFile>;
  routes: readonly { path: string; host?: "operator" | undefined }[];
};

export type PanelHosts = { panel: string; admin: string; rootDomain: string };

const contentTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
};

/** What the build of the panel writes beside the files. */
const Manifest = z.object({
  routes: z.array(z.object({ path: z.string(), host: z.literal("operator").optional() })),
  previous: z.record(z.string(), z.number()),
});

/** Reads a built panel. Throws when the folder holds none. */
export function loadPanel(dir: string, hosts: PanelHosts): PanelFiles {
  if (!existsSync(join(dir, "build.json")))
    throw new Error(`[panel] dir ${dir} holds no built panel; npm run up builds one`);
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(dir, "build.json"), "utf8")));
  const html = readFileSync(join(dir, "index.html"), "utf8");
  const assets = new Map<string, PanelFile & { until?: number }>();
  for (const name of readdirSync(join(dir, "assets"))) {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) continue;
    const until = manifest.previous[name];
    const file = readAsset(join(dir, "assets", name), contentType);
    assets.set(`/assets/${name}`, { ...file, ...(until !== undefined && { until }) });
  }
  const documents = {
    player: documentOf(html, "player", hosts),
    operator: documentOf(html, "operator", hosts),
  };
  return { assets, documents, routes: manifest.routes };
}

function readAsset(path: string, contentType: string): PanelFile {
  const read = (ending: string) => (existsSync(path + ending) ? readFileSync(path + ending) : undefined);
  return packed(readFileSync(path), contentType, { br: read(".br"), gzip: read(".gz") });
}

/** The document tells the panel which host serves it, and where the other one is. */
function documentOf(html: string, host: "player" | "operator", hosts: PanelHosts): PanelFile {
  const values: Record<string, string> = {
    "%SVC_HOST%": host,
    "%SVC_PANEL_HOST%": hosts.panel,
    "%SVC_ADMIN_HOST%": hosts.admin,
    "%SVC_ROOT_DOMAIN%": hosts.rootDomain,
  };
  const text = html.replace(/%SVC_[A-Z_]+%/g, (name) => escapeHtml(values[name] ?? ""));
  const bytes = Buffer.from(text);
  const forms = { br: brotliCompressSync(bytes), gzip: gzipSync(bytes, { level: 9 }) };
  return packed(bytes, "text/html; charset=utf-8", forms);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function packed(
  bytes: Uint8Array,
  contentType: string,
  forms: { br: Uint8Array | undefined; gzip: Uint8Array | undefined },
): PanelFile {
  const { br, gzip } = forms;
  return {
    contentType,
    tag: hash("sha256", bytes, "base64url").slice(0, 22),
    bodies: {
      identity: bytes,
      ...(br && br.length < bytes.length && { br }),
      ...(gzip && gzip.length < bytes.length && { gzip }),
    },
  };
}

/** The smallest form that an Accept-Encoding header takes. */
export function chooseEncoding(file: PanelFile, accepted: string | undefined): Encoding {
  const isTaken = (name: Encoding) =>
    name !== "identity" && file.bodies[name] !== undefined && takesEncoding(accepted, name);
  return encodings.find(isTaken) ?? "identity";
}
