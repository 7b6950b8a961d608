import { setAsides as contracts } from "@svc/proto";

/** A safe start: files of a stopped server's world that are set aside. */
export const setAsides = {
  read: contracts.read,
  begin: contracts.begin,
  putBack: contracts.putBack,
};
