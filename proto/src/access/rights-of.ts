// What an operation asks of those whom a server is shared with (docs/reference/shared-access.md#decision).

import type { AnyContract } from "../contract.ts";
import type { Asked } from "./decide.ts";

/** By its binding: without rights it cannot be shared, without `rights` of its own it takes no API token. */
export function askedBy({ http }: Pick<AnyContract, "http">): Pick<Asked, "rights" | "takesTokens"> {
  const rights = http?.memberRights ?? http?.rights ?? [];
  const takesTokens = http?.rights !== undefined && http.memberRights === undefined;
  return { rights: rights.length === 0 ? "owner" : rights, takesTokens };
}
