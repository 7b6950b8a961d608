import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { isFault } from "@svc/proto";
import { readDigest } from "./content-digest.ts";

const of = (text: string) => createHash("sha256").update(text).digest();
const ours = `sha-256=:${of("x").toString("base64")}:`;
const outcome = (header: string | undefined) => {
  try {
    return readDigest(header);
  } catch (error) {
    return isFault(error) ? error.fault : String(error);
  }
};

describe("the header Content-Digest", () => {
  const hex = of("x").toString("hex");
  const cases: Record<string, [header: string | undefined, answer: string]> = {
    "one sha-256 is taken": [ours, hex],
    "other algorithms beside it do not count": [`sha-512=:AAAA:, ${ours}`, hex],
    "spaces around it are allowed": [`  ${ours} `, hex],
    "none is missed": [undefined, "digest_required"],
    "an empty one is missed": ["", "digest_required"],
    "only another algorithm is as none": ["sha-512=:AAAA:", "digest_required"],
    "hex instead of base64 is malformed": [`sha-256=:${hex}:`, "bad_digest"],
    "without colons it is malformed": [`sha-256=${of("x").toString("base64")}`, "bad_digest"],
    "two of them are malformed": [`${ours}, ${ours}`, "bad_digest"],
    "a short one is malformed": ["sha-256=:AAAA:", "bad_digest"],
  };
  for (const [name, [header, answer]] of Object.entries(cases)) {
    test(name, () => assert.equal(outcome(header), answer));
  }
});
