// The panel ships types without schemas (docs/reference/panel.md#build): what the service answers to its pages is held against the
// schemas of the contracts here.

import { type Operation, operations } from "@svc/proto";
import type { HTTPResponse, Page } from "puppeteer-core";

type Known = { operation: Operation; path: RegExp };

const known: readonly Known[] = operations
  .filter(({ http }) => http.faces.includes("external"))
  // A path without parameters comes before one with.
  .toSorted((a, b) => parametersOf(a) - parametersOf(b))
  .flatMap((operation) => {
    const { path, aliases = [] } = operation.http;
    return [path, ...aliases].map((one) => ({ operation, path: patternOf(one) }));
  });

function parametersOf({ http }: Operation): number {
  return http.path.split("{").length;
}

function patternOf(path: string): RegExp {
  const parts = path.split(/\{[^}]+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^/]+")}$`);
}

/** Notes every answer of a page that does not fit its contract. */
export function watchAnswers(page: Page, note: (fault: string) => void): void {
  page.on("response", (response) => void checkAnswer(response, note));
}

async function checkAnswer(response: HTTPResponse, note: (fault: string) => void): Promise<void> {
  const method = response.request().method();
  const { pathname } = new URL(response.url());
  const isJson = response.headers()["content-type"]?.startsWith("application/json") === true;
  if (!response.ok() || !isJson || !pathname.startsWith("/api/")) return;
  const found = known.find(({ operation, path }) => operation.http.method === method && path.test(pathname));
  if (!found) return note(`answer: ${method} ${pathname} is no operation`);
  // Bytes that happen to be JSON are somebody's file.
  if (found.operation.http.kind === "download") return;
  // A page that is left takes the body along.
  const body: unknown = await response.json().catch(() => undefined);
  if (body === undefined) return;
  const { collect } = found.operation.http;
  const { success, error } = found.operation.output.safeParse(
    collect === undefined ? body : listOf(body, collect),
  );
  if (!success) note(`answer: ${method} ${pathname}: ${error.message.slice(0, 400)}`);
}

function listOf(body: unknown, collect: string): unknown {
  const { [collect]: items, ...more } = body as Record<string, unknown>;
  return { items, ...more };
}
