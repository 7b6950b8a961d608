// Which image a server gets that names none (docs/reference/images.md#versions).
// Vocabulary: protocol = the version of the game as a client says it; versions that play together have the same.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { PlayerUuid } from "../text.ts";
import { maxPlayersReported } from "./player.ts";

const spec = "docs/reference/images.md#versions";

export const reportVersions = operation({
  subject: "lifecycle.player.report-versions",
  http: {
    ...{ method: "POST", path: "/api/v1/internal/players/versions", status: 204 },
    ...{ face: "internal", tier: "service", callers: ["velocity"] },
  },
  body: {
    players: z
      .array(
        z.strictObject({
          mc_uuid: PlayerUuid,
          /** What the client said at its handshake; snapshots have large numbers. */
          protocol: z
            .number()
            .int()
            .min(0)
            .max(2 ** 31 - 1),
        }),
      )
      .max(maxPlayersReported),
  },
  output: nothing,
  idempotent: true,
  summary: "The versions of the game with which players came, once for each session.",
  spec,
});

/** Why an image was chosen. */
export const VersionChoice = z.strictObject({
  /** As players call it, `1.21-1.21.1`; absent when the image names none that we know. */
  version: z.string().optional(),
  /** Players of the last seven days who have this version, and players of any version. */
  players: z.number().int(),
  of: z.number().int(),
});
export type VersionChoice = z.output<typeof VersionChoice>;

export const suggestImage = operation({
  subject: "lifecycle.image.suggest",
  http: { method: "GET", path: "/api/v1/images/suggested", face: "external", tier: "admin" },
  output: VersionChoice.extend({
    image_ref: z.string(),
    /** Every version that players had, most players first, with its image if there is one. */
    versions: z.array(
      z.strictObject({
        protocol: z.number().int(),
        version: z.string().optional(),
        players: z.number().int(),
        image_ref: z.string().optional(),
      }),
    ),
  }),
  faults: ["registry_unavailable"],
  summary: "The image that a server gets which names none: that of the version most players have.",
  spec,
});
