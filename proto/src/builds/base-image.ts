// Base images that the platform publishes in its registry (docs/reference/images.md#bases).
// Vocabulary: base = an image that others are built FROM; derived image = an image built FROM a base.

import { gameVersions } from "../game-version.ts";

/**
 * Label that every base image has and derived images inherit. Its value names the entry of the embedded cluster's image
 * table whose program runs the containers of such images.
 */
export const runsLabel = "svc.internal/runs";

/** Label with the version of the game that an image runs (docs/reference/images.md#versions). */
export const gameVersionLabel = "svc.internal/version";

const repository = "svc/demo-server";

/** The demo game server as a base image. Derived images put files below `/data` and set MOTD and MAX_PLAYERS. */
const demoServerOf = (tag: string) => ({
  repository,
  tag,
  /** `config` of the image's configuration. Without `Volumes`: builders may drop what is copied into one. */
  config: {
    Labels: { [runsLabel]: `svc.local/demo-server:${tag}`, [gameVersionLabel]: tag },
    Entrypoint: ["demo-server"],
    WorkingDir: "/data",
    ExposedPorts: { "25565/tcp": {} },
  },
});

/** One for each version, oldest first. */
export const demoServerImages = gameVersions.map(([, name]) => demoServerOf(name));

/** The one that the authors of its library test themselves. */
export const demoServerImage = demoServerOf("1.21.4");
