import { z } from "zod";

/** Tags that one server may have, and characters of each. */
export const maxTags = 8;
export const maxTagLength = 24;

/** Each has a shade for light and one for dark that text can have. */
export const tagColours = ["grey", "blue", "green", "amber", "red", "violet"] as const;
export type TagColour = (typeof tagColours)[number];

/** In lower case, so that it is one word however it is typed. */
export const ServerTag = z.strictObject({ name: z.string(), colour: z.enum(tagColours) });
export type ServerTag = z.output<typeof ServerTag>;
