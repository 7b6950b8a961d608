import { spawn } from "node:child_process";
import { once } from "node:events";
import { addressOf } from "../account/face-client.ts";
import { hasDisplay } from "../config.ts";
import type { Outcome } from "../output.ts";

/** Opens the panel in a browser if there is one; always prints its address. */
export async function openPanel(options: { data: string; host: "panel" | "operator" }): Promise<Outcome> {
  const url = addressOf(options.data, options.host === "operator" ? "admin" : "panel", "/");
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
