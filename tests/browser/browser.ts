import puppeteer, { type Browser } from "puppeteer-core";

/** Starts Chromium; `--no-sandbox` only where the sandbox cannot work. */
export function startBrowser(binary: string): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  return puppeteer.launch({
    executablePath: binary,
    pipe: true,
    timeout: 120_000,
    protocolTimeout: 120_000,
    args: [...(isRoot ? ["--no-sandbox"] : []), "--disable-dev-shm-usage", "--no-proxy-server"],
  });
}
