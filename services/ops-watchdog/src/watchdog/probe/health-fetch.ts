import { createNodeFetch } from "@svc/service/node-fetch";

/** For `/healthz` and `/metrics` of our own processes; no redirect is followed. */
export const { fetch: healthFetch } = createNodeFetch({ connections: 2 });
