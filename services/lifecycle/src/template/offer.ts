// A template as an account sees it, and what prevents that it makes a server of it now (docs/reference/server-templates.md#use). Pure.

import type { serverTemplates as contracts } from "@svc/proto";
import type { Usage } from "../database/account-usage.ts";
import { costsOf } from "../server/input.ts";
import type { NewServerSettings } from "../server/new-spec.ts";
import { describeExceeded, type Limits } from "../server/quota.ts";
import { specOf } from "./input.ts";

/** `left`: servers that the account may still make. */
export type Account = { limits: Limits; used: Usage; left: number };

/** Undefined for one whose settings do not fit any more, which only staff can mend. */
export function offerOf(
  template: contracts.ListedTemplate,
  account: Account,
  settings: NewServerSettings,
): contracts.OfferedTemplate | undefined {
  const made = specOf(template.settings, settings);
  if (made.kind === "refused") return undefined;
  const { spec } = made;
  const { name, title, description } = template;
  const { memory = settings.default_memory, cpu } = spec.resources?.limits ?? {};
  return {
    ...{ name, title, description },
    ...(template.settings.image !== undefined && { image: template.settings.image }),
    ...{ memory, storage: spec.storage?.size ?? settings.default_storage },
    ...(cpu !== undefined && { cpu }),
    autostartPolicy: spec.autostartPolicy ?? "ownerOnly",
    idleStopSeconds: spec.idle?.autoStopEnabled ? (spec.idle.emptySecondsBeforeStop ?? 0) : 0,
    ...problemOf(template, account, { ...costsOf(spec), servers: 1 }),
  };
}

// What waiting or the account itself can't help comes first.
function problemOf(
  { problem }: contracts.ListedTemplate,
  { limits, used, left }: Account,
  more: Usage,
): Pick<contracts.OfferedTemplate, "problem" | "detail"> {
  if (problem !== undefined && problem !== "image_unchecked") return { problem };
  if (left <= 0) return { problem: "creation_limit" };
  const detail = describeExceeded(limits, used, more);
  if (detail !== undefined) return { problem: "quota_exceeded", detail };
  return problem === undefined ? {} : { problem };
}
