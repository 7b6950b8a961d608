// Base images that the platform publishes in its registry (docs/reference/images.md#bases).
// Vocabulary: base = an image that others are built FROM; derived image = an image built FROM a base.

/**
 * Label that every base image has and derived images inherit. Its value names the entry of the embedded cluster's image
 * table whose program runs the containers of such images.
 */
export const runsLabel = "svc.internal/runs";

/** The demo game server as a base image. Derived images put files below `/data` and set MOTD and MAX_PLAYERS. */
export const demoServerImage = {
  repository: "svc/demo-server",
  tag: "1.21.4",
  /** `config` of the image's configuration. Without `Volumes`: builders may drop what is copied into one. */
  config: {
    Labels: { [runsLabel]: "svc.local/demo-server:1.21.4" },
    Entrypoint: ["demo-server"],
    WorkingDir: "/data",
    ExposedPorts: { "25565/tcp": {} },
  },
} as const;
