// Bodies of the bare building blocks; their replies are checked with the contract's own model, so both sides pay alike.

import { ServerInfo } from "@svc/proto";
import { z } from "zod";

export const Ask = z.strictObject({ name: z.string().min(1).max(63) });
export const PageAsk = z.strictObject({
  from: z.number().int().min(0),
  count: z.number().int().min(1).max(1000),
});
export const Page = z.strictObject({ items: z.array(ServerInfo), next: z.number().int().optional() });
export { ServerInfo };

/** A row of the anchor's table as the responder of P3 reads it. */
type AnchorRow = { name: string; info: unknown };
export type AnchorDatabase = { servers: AnchorRow };
