import { StringDecoder } from "node:string_decoder";
import { KubeError } from "./error.ts";
import { type KubeObject, pathOf, type Resource } from "./resource.ts";
import type { Transport } from "./transport.ts";

type WatchEvent<T> = { type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; object: T };

type WatchRequest = {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  resourceVersion: string;
  signal: AbortSignal;
  /** Called once the server has responded; the first event may take long. */
  onOpen?: () => void;
};

// The server ends a watch after this long, so a dead connection is noticed shortly after at the latest.
const lifetimeSeconds = 270;
const graceMs = 30_000;

/**
 * Follows one kind from a resource version, bookmarks included, until the server ends the watch or `signal` aborts.
 * Throws `KubeError` 410 when the version is too old, and the fault `unavailable` when the server cannot be reached.
 */
export async function* watch<T extends KubeObject>(
  transport: Transport,
  kind: Resource<T>,
  about: WatchRequest,
): AsyncGenerator<WatchEvent<T>> {
  const { namespace, labelSelector, fieldSelector, resourceVersion, signal } = about;
  const response = await transport.open({
    method: "GET",
    path: pathOf(kind, namespace === undefined ? {} : { namespace }),
    query: {
      watch: true,
      allowWatchBookmarks: true,
      timeoutSeconds: lifetimeSeconds,
      resourceVersion,
      labelSelector,
      fieldSelector,
    },
    signal,
    timeoutMs: lifetimeSeconds * 1_000 + graceMs,
  });
  response.socket.setKeepAlive(true, 15_000);
  about.onOpen?.();
  try {
    for await (const line of lines(response)) yield eventOf<T>(line);
  } catch (error) {
    if (error instanceof KubeError || signal.aborted) throw error;
    // For the reader a broken connection is the same as an ended watch.
  } finally {
    response.destroy();
  }
}

async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  // Joined at the end of a line: an object of 1 MiB arrives in many chunks.
  let held: string[] = [];
  for await (const chunk of chunks) {
    const text = decoder.write(chunk);
    held.push(text);
    if (!text.includes("\n")) continue;
    const parts = held.join("").split("\n");
    held = [parts.pop() ?? ""];
    for (const part of parts) if (part !== "") yield part;
  }
}

function eventOf<T>(line: string): WatchEvent<T> {
  const event = JSON.parse(line) as { type: string; object: unknown };
  if (event.type !== "ERROR") return event as WatchEvent<T>;
  const status = event.object as { code?: number; reason?: string; message?: string };
  throw new KubeError(
    status.code ?? 500,
    status.reason ?? "",
    status.message ?? "the watch ended with an error",
  );
}
