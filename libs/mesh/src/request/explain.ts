// Tells a caller which field of the input is wrong.

import type { z } from "zod";

/** For example `memory: must be a quantity such as 8Gi`. */
export function explainIssues(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return "The request is not valid.";
  const path = issue.path.map(String).join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}
