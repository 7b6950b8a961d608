import { patience } from "@svc/local-stack/testing";
import puppeteer, { type Browser } from "puppeteer-core";

/** Starts Chromium; `--no-sandbox` only where the sandbox cannot work. */
export function startBrowser(binary: string): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  return puppeteer.launch({
    executablePath: binary,
    pipe: true,
    timeout: 120_000,
    // Longer than a test waits for anything: otherwise it would fail with this instead of what it waited for.
    protocolTimeout: 120_000 * patience,
    args: [...(isRoot ? ["--no-sandbox"] : []), "--disable-dev-shm-usage", "--no-proxy-server"],
  });
}
