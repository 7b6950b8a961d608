import { section } from "@svc/config";
import { z } from "zod";

/** Settings of builds; its numbers come with its first operations. */
export const settings = z.strictObject({ builds: section({}) });
