import { exports as contracts } from "@svc/proto";
import { download } from "../marked.ts";

/** Downloads of files, worlds and backups. */
export const exports = {
  startFile: contracts.startFile,
  startWorld: contracts.startWorld,
  startBackup: contracts.startBackup,
  readStatus: contracts.readStatus,
  download: download(contracts.download),
};
