// The other end of the bus hop of the bare server-sent events: publishes each line as a plain NATS message.

import { connect } from "@nats-io/transport-node";
import { type Pace, pace } from "../harness/line-rate.ts";
import { need, serveParent } from "../harness/parent.ts";

const nats = await connect({
  servers: need("ANCHOR_NATS_URL"),
  user: need("ANCHOR_NATS_USER"),
  pass: need("ANCHOR_NATS_PASSWORD"),
});

serveParent({
  print: (plan: Pace) => pace(plan, (name, line) => nats.publish(`anchor.line.${name}`, line)),
});
