/** `build.json` beside the built files; gateway-external reads it. */
export type Manifest = {
  /** Milliseconds since 1970. */
  built_at: number;
  /** Paths at which the document is answered with 200; elsewhere it is 404. */
  routes: { path: string; host?: "operator" }[];
  /** Assets of earlier builds, and the time in milliseconds after which they are no longer served. */
  previous: Record<string, number>;
};
