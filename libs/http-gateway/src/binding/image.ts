// Pictures of entries of a view (docs/reference/status-pages.md#badge). They are drawn here, from a copy, so that a page that
// many people look at costs no service anything.

import type { ViewMirror } from "@svc/mesh";
import { Fault, type ImageBinding } from "@svc/proto";
import { sendResponse } from "../response/response.ts";
import type { Binding } from "./call.ts";
import { createKeptAnswers, isSame, type KeptAnswer, keepAnswer } from "./kept-answer.ts";

type KeptImage = KeptAnswer & { of: Uint8Array };

const keptBytes = 8 * 1024 * 1024;

export function imageBinding(image: ImageBinding, mirror: ViewMirror, publicForSeconds = 0): Binding {
  const images = createKeptAnswers<KeptImage>(keptBytes);
  const drawn = (of: Uint8Array, key: string, input: Readonly<Record<string, unknown>>): KeptImage => {
    const entry: unknown = JSON.parse(Buffer.from(of).toString());
    const variant = image.variantOf(entry, { input, now: Date.now() });
    const kept = images.find(`${key} ${variant}`);
    if (kept?.of === of) return kept;
    const made = { ...keepAnswer(Buffer.from(image.draw(entry, variant))), of };
    images.put(`${key} ${variant}`, made);
    return made;
  };
  return async ({ state, input }) => {
    // What everybody may see is better old than not at all; the picture says that it is.
    if (!mirror.ready) throw new Fault("unavailable");
    const key = String(input[image.param]);
    const of = mirror.get(key);
    if (!of) throw new Fault(image.missing);
    const { body, etag } = drawn(of, key, input);
    const { policy } = image;
    const headers = ["ETag", etag, "Cache-Control", `public, max-age=${publicForSeconds}`, ...embeddable];
    if (isSame(state.request.headers["if-none-match"], etag))
      return sendResponse(state, { status: 304, headers, policy });
    sendResponse(
      state,
      { status: 200, headers: ["Content-Type", image.contentType, ...headers], policy },
      body,
    );
  };
}

/** Pages of other sites may show it. */
const embeddable = ["Cross-Origin-Resource-Policy", "cross-origin"];
