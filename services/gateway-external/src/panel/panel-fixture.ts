// A small built panel for tests, as the build writes one.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

export const script = `console.log("${"panel ".repeat(200)}");\n`;

export type PanelFixture = { dir: string; remove: () => void };

export function writePanelFixture(now: number): PanelFixture {
  const dir = mkdtempSync(join(tmpdir(), "svc-panel-"));
  const asset = (name: string, text: string) => {
    writeFileSync(join(dir, "assets", name), text);
    writeFileSync(join(dir, "assets", `${name}.gz`), gzipSync(text));
    writeFileSync(join(dir, "assets", `${name}.br`), brotliCompressSync(text));
  };
  mkdirSync(join(dir, "assets"));
  asset("main-1a2b.js", script);
  asset("yesterday-9f8e.js", script);
  asset("long-ago-7d6c.js", script);
  writeFileSync(join(dir, "assets", "source.map"), "{}");
  writeFileSync(
    join(dir, "index.html"),
    '<!doctype html><meta name="svc-host" content="%SVC_HOST%"><p>%SVC_PANEL_HOST% %SVC_ADMIN_HOST% %SVC_ROOT_DOMAIN%',
  );
  const manifest = {
    built_at: now,
    routes: [
      { path: "/" },
      { path: "/login" },
      { path: "/servers/:name" },
      { path: "/admin/users", host: "operator" },
    ],
    previous: { "yesterday-9f8e.js": now + 24 * 60 * 60_000, "long-ago-7d6c.js": now - 1 },
  };
  writeFileSync(join(dir, "build.json"), JSON.stringify(manifest));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
