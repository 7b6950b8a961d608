import { keepAwakes as contracts } from "@svc/proto";

/** Until when a server is kept from its idle stop. */
export const keepAwakes = {
  read: contracts.read,
  write: contracts.write,
  end: contracts.end,
};
