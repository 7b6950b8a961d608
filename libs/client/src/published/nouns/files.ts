import { files as contracts } from "@svc/proto";

/** Files of a stopped server's world. */
export const files = {
  list: contracts.list,
  read: contracts.read,
  search: contracts.search,
  write: contracts.write,
  remove: contracts.remove,
  makeFolder: contracts.makeFolder,
  rename: contracts.rename,
  unzip: contracts.unzip,
  archive: contracts.archive,
  fetch: contracts.fetch,
  listOperations: contracts.listOperations,
};
