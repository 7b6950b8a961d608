// Words by which people find servers again (docs/reference/server-resource.md#tags).

import { z } from "zod";
import { operation } from "../contract.ts";
import { ServerNameParam } from "./names.ts";
import { ServerTag, tagColours } from "./server-tag.ts";

export const write = operation({
  subject: "lifecycle.tag.write",
  http: {
    method: "PUT",
    path: "/api/v1/servers/{name}/tags",
    face: "external",
    tier: "app",
    rights: ["settings"],
  },
  params: { name: ServerNameParam },
  body: {
    tags: z.array(z.strictObject({ name: z.string().max(256), colour: z.enum(tagColours) })).max(100),
  },
  output: z.strictObject({ name: z.string(), tags: z.array(ServerTag) }),
  faults: ["bad_name", "not_found", "bad_tags"],
  onceById: true,
  maxInFlight: 32,
  summary: "Sets all tags of a server, as words in lower case with a colour each.",
  spec: "docs/reference/server-resource.md#tags",
});
