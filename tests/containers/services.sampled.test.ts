// Lane `docker`: the services against PostgreSQL and NATS in containers, started with testcontainers.

import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { passApart, reasonToSkip } from "./own-machine.ts";

const skip = reasonToSkip();
const files = isWhole ? "all tests with tables" : "tests with tables";

test(
  `${files} pass on a PostgreSQL in a container, and a stack runs on it and on a NATS in another`,
  {
    skip,
  },
  (context) => passApart(context, "services-inside.ts"),
);
