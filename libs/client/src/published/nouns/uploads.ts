import { uploads as contracts } from "@svc/proto";
import { upload } from "../marked.ts";

/** Files on their way into a world; `uploadFile` does all of it. */
export const uploads = {
  upload: upload(contracts.upload),
  begin: contracts.begin,
  readSession: contracts.readSession,
  putPart: upload(contracts.putPart),
  commit: contracts.commit,
  cancel: contracts.cancel,
};
