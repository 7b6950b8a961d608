import { fileVersions as contracts } from "@svc/proto";

/** Earlier versions of text files. */
export const fileVersions = {
  list: contracts.list,
  read: contracts.read,
};
