import { z } from "zod";

/** Roles of an account (docs/reference/http.md#tiers). Staff means admin or owner on the operator console host. */
export const Role = z.enum(["owner", "admin", "user"]);
export type Role = z.output<typeof Role>;
