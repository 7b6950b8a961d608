// Prints users and permissions for nats-server; standard input has the passwords by user as JSON. A process of its own: the
// contracts that permissions follow from would stay in the supervisor.

import { json } from "node:stream/consumers";
import { natsAuthorization } from "@svc/proto";

process.stdout.write(natsAuthorization((await json(process.stdin)) as Record<string, string>));
