// Another service: a durable consumer of identity's events that notes when each arrived.

import { connectMesh } from "@svc/mesh";
import { accounts, eventFilter } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { need, serveParent } from "../harness/parent.ts";

const mesh = await connectMesh({
  service: "operator",
  url: need("SVC_NATS_URL"),
  user: need("SVC_NATS_USER"),
  password: need("SVC_NATS_PASSWORD"),
  version: "bench",
  log: createLogger("listener", "warn"),
});
const arrivedNs = new Map<string, number>();
await mesh.consume({
  durable: "bench-listener",
  stream: "IDENTITY",
  subjects: [eventFilter(accounts.sessionRevoked)],
  parse: (body) => accounts.sessionRevoked.data.parse(body),
  handle: async ({ data }) => {
    if (!arrivedNs.has(data.hash)) arrivedNs.set(data.hash, Number(process.hrtime.bigint()));
  },
});

serveParent({ arrived: () => [...arrivedNs], forget: () => arrivedNs.clear() });
