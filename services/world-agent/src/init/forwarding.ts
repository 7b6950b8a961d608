// Makes a Paper server believe the proxy and nobody else (docs/reference/server-resource.md#objects). The files are the owner's: what is in them
// stays, and where one cannot be read it is set aside, because a server without forwarding would let anybody in.

import { mkdirSync, renameSync } from "node:fs";
import { isMap, parseDocument } from "yaml";
import { type Folder, openFolder, readPlain, replacePlain } from "./folder.ts";
import { withProperty } from "./properties.ts";

const highestBytes = 1 << 20;
const firstMode = 0o600;

/** What was written, by name; nothing when all was right already or there is no secret. */
export function initForwarding(path: string, secret: string): string[] {
  if (secret === "") return [];
  const written: string[] = [];
  const root = openFolder(path);
  try {
    const config = openConfig(root);
    try {
      mend(config, "paper-global.yml", (text) => withVelocity(text, secret)) &&
        written.push("config/paper-global.yml");
    } finally {
      config.close();
    }
    mend(root, "server.properties", (text) => withProperty(text, "online-mode", "false")) &&
      written.push("server.properties");
  } finally {
    root.close();
  }
  return written;
}

function openConfig(root: Folder): Folder {
  try {
    mkdirSync(root.at("config"), 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return openFolder(root.at("config"));
}

/** `change` gives undefined for a text that it cannot read. True when the file was written. */
function mend(folder: Folder, name: string, change: (text: string) => string | undefined): boolean {
  const before = readPlain(folder, name, highestBytes);
  const text = before.kind === "file" ? before.text : "";
  const next = change(text);
  if (before.kind === "file" && next === text) return false;
  const isLost = before.kind === "other" || (before.kind === "file" && next === undefined);
  if (isLost) renameSync(folder.at(name), folder.at(`${name}.unreadable`));
  const mode = before.kind === "file" ? before.mode : firstMode;
  replacePlain(folder, name, { text: next ?? change("") ?? "", mode });
  return true;
}

/** paper-global.yml with the proxy's block; comments and everything else stay. Undefined when it is not a YAML map. */
export function withVelocity(text: string, secret: string): string | undefined {
  // The file is UTF-8; it comes and goes as bytes.
  const document = parseDocument(Buffer.from(text, "latin1").toString("utf8"));
  if (document.errors.length > 0) return undefined;
  if (document.contents === null) document.contents = document.createNode({}) as never;
  if (!isMap(document.contents)) return undefined;
  const wanted = { enabled: true, "online-mode": true, secret };
  if (document.hasIn(["proxies"]) && !isMap(document.getIn(["proxies"]))) document.deleteIn(["proxies"]);
  if (document.hasIn(["proxies", "velocity"]) && !isMap(document.getIn(["proxies", "velocity"])))
    document.deleteIn(["proxies", "velocity"]);
  let isChanged = false;
  for (const [key, value] of Object.entries(wanted)) {
    const path = ["proxies", "velocity", key];
    if (document.getIn(path) === value) continue;
    document.setIn(path, value);
    isChanged = true;
  }
  if (!isChanged) return text;
  return Buffer.from(document.toString(), "utf8").toString("latin1");
}
