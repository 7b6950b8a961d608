// The image whitelist (api.md A22; behaviour.md j.4).
// Vocabulary: admit = an image may be used by a server; pin = the digest that its tag names right now.

import { z } from "zod";
import { request } from "../contract.ts";

export const admitImage = request({
  subject: "builds.image.admit",
  input: { image_ref: z.string().min(1).max(512) },
  output: z.strictObject({
    /** What a server stores: `name:tag@sha256:...` for an image of the platform's registry, else the given one. */
    image_ref: z.string(),
  }),
  faults: ["image_not_whitelisted", "image_not_in_registry", "registry_unavailable"],
  callers: ["lifecycle"],
  idempotent: true,
  summary: "Whether a server may use an image, and the pinned reference to store.",
  spec: "behaviour.md j.4, architecture.md 6.10",
});
