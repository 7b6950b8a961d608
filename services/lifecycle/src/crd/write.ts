// Writes deploy/crd/minecraftservers.svc.internal.json: `node launch.cjs services/lifecycle/src/crd/write.ts`.

import { writeFileSync } from "node:fs";
import { crdFile, crdText } from "./file.ts";

writeFileSync(crdFile, crdText());
