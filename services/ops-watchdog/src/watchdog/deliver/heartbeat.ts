// The heartbeat: a service elsewhere notices when it stops (docs/reference/alerts.md#heartbeat).

import { readFile } from "node:fs/promises";

const withinMs = 10_000;

type Beat = { kind: "good" } | { kind: "fail"; reason: string; findings: readonly string[] };

/** Undefined when there is no file, or nothing to tell. Throws with the address's scheme and host alone: the rest is a secret. */
export async function beat(file: string, what: Beat): Promise<"sent" | undefined> {
  const url = await readUrl(file);
  if (url === undefined) return undefined;
  // What follows a question mark cannot be given a further path.
  if (what.kind === "fail" && url.search !== "") return undefined;
  const shown = `${url.protocol}//${url.host}`;
  const target = what.kind === "good" ? url : new URL(`${url.href.replace(/\/$/, "")}/fail`);
  let status: number;
  try {
    const response = await fetch(target, {
      ...(what.kind === "fail" && { method: "POST", body: [what.reason, ...what.findings].join("\n") }),
      redirect: "follow",
      signal: AbortSignal.timeout(withinMs),
    });
    await response.body?.cancel();
    status = response.status;
  } catch {
    throw new Error(`${shown} does not answer`);
  }
  if (status >= 400) throw new Error(`${shown} answered ${status}`);
  return "sent";
}

async function readUrl(file: string): Promise<URL | undefined> {
  if (file === "") return undefined;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  if (text.trim() === "") return undefined;
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`${file} holds no http or https address`);
  return url;
}
