import { basename } from "node:path";
import puppeteer, { type Browser } from "puppeteer-core";

/** Starts Chromium; `--no-sandbox` only where the sandbox cannot work. */
export function startBrowser(binary: string): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  return puppeteer.launch({
    executablePath: binary,
    // Debian's chromium-headless-shell knows no other way and takes a sixth less CPU time.
    headless: basename(binary).includes("headless-shell") ? "shell" : true,
    pipe: true,
    timeout: 120_000,
    protocolTimeout: 120_000,
    args: [...(isRoot ? ["--no-sandbox"] : []), "--disable-dev-shm-usage", "--no-proxy-server"],
  });
}
