// The content of a file that a caller writes (docs/reference/files.md#operations). Pure.

import { createHash } from "node:crypto";
import { Fault } from "@svc/proto";

export type WriteRequest = {
  content: string;
  content_sha256?: string | undefined;
  expect_sha256?: string | undefined;
  create_only?: boolean | undefined;
};

const strictBase64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes, when they match their digest. */
export function decodeContent(wanted: WriteRequest, limit: number): Buffer {
  const { content, content_sha256: digest } = wanted;
  if (wanted.expect_sha256 !== undefined && wanted.create_only === true) {
    throw new Fault("bad_request", { message: "expect_sha256 and create_only cannot be combined." });
  }
  if (digest === undefined) {
    throw new Fault("digest_required", {
      message: "content_sha256 is required: the SHA-256 of the content.",
    });
  }
  if (!/^[0-9a-f]{64}$/.test(digest)) {
    throw new Fault("bad_digest", { message: "content_sha256 must be 64 lowercase hex digits." });
  }
  if (content.length % 4 !== 0 || !strictBase64.test(content)) {
    throw new Fault("bad_request", { message: "The content is not base64." });
  }
  const bytes = Buffer.from(content, "base64");
  if (bytes.length > limit) throw new Fault("too_large", { message: `The content exceeds ${limit} bytes.` });
  if (createHash("sha256").update(bytes).digest("hex") === digest) return bytes;
  throw new Fault("digest_mismatch");
}
