import { z } from "zod";

/** Roles of an account (interface.md 5.2). Staff means admin or owner on the operator console host. */
export const Role = z.enum(["owner", "admin", "user"]);
export type Role = z.output<typeof Role>;
