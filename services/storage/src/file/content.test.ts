import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { isFault } from "@svc/proto";
import { decodeContent, type WriteRequest } from "./content.ts";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const wanted = (bytes: Buffer, more: Partial<WriteRequest> = {}): WriteRequest => ({
  content: bytes.toString("base64"),
  content_sha256: sha256(bytes),
  ...more,
});
const outcome = (about: WriteRequest) => {
  try {
    return decodeContent(about, 10).toString();
  } catch (error) {
    return isFault(error) ? error.fault : String(error);
  }
};

describe("the content of a file to save", () => {
  const ok = Buffer.from("hello");
  const cases: Record<string, [about: WriteRequest, answer: string]> = {
    "is accepted with its digest": [wanted(ok), "hello"],
    "may be empty": [wanted(Buffer.alloc(0)), ""],
    "needs a digest": [wanted(ok, { content_sha256: undefined }), "digest_required"],
    "needs a digest in lower-case hex": [wanted(ok, { content_sha256: "X" }), "bad_digest"],
    "must match its digest": [wanted(ok, { content_sha256: sha256(Buffer.from("x")) }), "digest_mismatch"],
    "must be base64": [wanted(ok, { content: "a-b_" }), "bad_request"],
    "must be complete base64": [wanted(ok, { content: "abc" }), "bad_request"],
    "has a size limit": [wanted(Buffer.from("hello world")), "too_large"],
    "either creates a file or replaces an expected one": [
      wanted(ok, { create_only: true, expect_sha256: sha256(ok) }),
      "bad_request",
    ],
  };
  for (const [name, [about, answer]] of Object.entries(cases)) {
    test(name, () => assert.equal(outcome(about), answer));
  }
});
