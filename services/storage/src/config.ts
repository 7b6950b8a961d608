import { section } from "@svc/config";
import { z } from "zod";

/** Settings of storage; its numbers come with its first operations. */
export const settings = z.strictObject({ storage: section({}) });
