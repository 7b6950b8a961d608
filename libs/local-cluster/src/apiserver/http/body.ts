import type { IncomingMessage } from "node:http";
import { ApiStatus, badRequest, unsupportedMediaType } from "../api-status.ts";

const limitBytes = 3 * 1024 * 1024;

/** Content types of a whole object. */
const objectTypes = ["application/json"];

/** The bare content type of a request, empty when there is none. */
export function contentType(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** The bytes of a body; 413 above 3 MiB. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > limitBytes) {
      throw new ApiStatus(413, "RequestEntityTooLarge", {
        message: `Request entity too large: limit is ${limitBytes}`,
      });
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** The object in a body; 415 for another content type, 400 for invalid JSON. An empty body is undefined. */
export async function readObject(request: IncomingMessage): Promise<unknown> {
  const type = contentType(request);
  const bytes = await readBody(request);
  if (bytes.length === 0) return undefined;
  if (type !== "" && type !== "*/*" && !objectTypes.includes(type)) throw unsupportedMediaType(objectTypes);
  return parseText(bytes.toString());
}

/** 400 for text that is not JSON. */
export function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw badRequest(
      `the object provided is unrecognized: couldn't get version/kind; json parse error: ${detail}`,
    );
  }
}
