import { section } from "@svc/config";
import { z } from "zod";

/** Settings of ops-watchdog; its numbers come with its first operations. */
export const settings = z.strictObject({ ops_watchdog: section({}) });
