import { spawn } from "node:child_process";
import { once } from "node:events";
import { addressOf } from "../account/panel-client.ts";
import { hasDisplay } from "../config.ts";
import { mintSetupLink } from "../host/rescue.ts";
import type { Outcome } from "../output.ts";
import { readStackFile } from "../stack-file.ts";

type OpenOptions = { data: string; host?: "panel" | "operator" };

/**
 * Opens the panel in a browser if there is one; always prints its address. While nobody has set the stack up, that is
 * the setup link.
 */
export async function openPanel({ data, host }: OpenOptions): Promise<Outcome> {
  const panel = addressOf(data, host === "operator" ? "admin" : "panel", "/");
  const isNew = host === undefined && readStackFile(data).setup_url !== undefined;
  // The one of the file may be too old. Without the database the address is right all the same.
  const link = isNew ? await mintSetupLink(data).catch(() => undefined) : undefined;
  const url = link?.setup_url ?? panel;
  const opened = hasDisplay() && (await openBrowser(url));
  return { json: { url, opened }, text: url };
}

async function openBrowser(url: string): Promise<boolean> {
  const child = spawn("xdg-open", [url], { stdio: "ignore", detached: true });
  try {
    await once(child, "spawn");
    child.unref();
    return true;
  } catch {
    return false;
  }
}
