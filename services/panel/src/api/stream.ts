// Streams of text, read by fetch: status codes, a first Last-Event-ID and comments are needed, which EventSource hides.

import { background } from "./activity.ts";
import { open } from "./call.ts";
import { offlineError } from "./error.ts";
import type { Input, OperationName } from "./operations.ts";

/** Opens an operation that answers with a stream. */
export function openStream<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: { signal: AbortSignal; headers?: Readonly<Record<string, string>> },
): Promise<Response> {
  return open(name, input, { ...options, headers: { ...background, ...options.headers } });
}

/** The text of a response in chunks as they come; a connection that breaks throws an `ApiError`. */
export async function* createTextReader(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw offlineError();
      });
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
