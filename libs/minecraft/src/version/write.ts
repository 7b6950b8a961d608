// `node libs/minecraft/src/version/write.ts`: writes the table of every version in the catalog anew. To be run after a
// change of the catalog, of the limbo world or of minecraft-data.

import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { gameVersions } from "@svc/proto/game-version";
import { makeTable } from "./make-table.ts";
import { tableFile } from "./table.ts";

for (const [protocol, data] of gameVersions) {
  writeFileSync(tableFile(protocol), gzipSync(JSON.stringify(makeTable(protocol, data)), { level: 9 }));
}
