// Lane `docker`: compose.yaml as it is, with the images of deploy/images/Dockerfile. The variable says that a daemon may run.

import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { passApart, reasonToSkip } from "./own-machine.ts";

const skip = reasonToSkip();
const title = `compose.yaml with built images plays the main flow${isWhole ? ", and every image has its programs" : ""}`;

test(title, { skip }, (context) => passApart(context, "compose-inside.ts"));
