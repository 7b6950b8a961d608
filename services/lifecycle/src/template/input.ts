// What a template may be (docs/reference/server-templates.md#settings). Pure.

import { isDeepStrictEqual } from "node:util";
import { serverTemplates as contracts, type MinecraftServerSpec, visibleName } from "@svc/proto";
import { faultOfSpec } from "../reconcile/check-spec.ts";
import { type NewServerSettings, newSpec, withTemplate } from "../server/new-spec.ts";
import { readTags } from "../server/tag-names.ts";

/** What somebody writes of a template. */
export type Written = Pick<
  contracts.ServerTemplate,
  "name" | "title" | "description" | "offered" | "settings"
>;

type Read = { kind: "read"; written: Written } | { kind: "refused"; message: string };

const refused = (message: string) => ({ kind: "refused", message }) as const;

/** The template as it is stored: texts of one visible line, tags as servers have them, nothing that is empty. */
export function readTemplate(given: Written, settings: NewServerSettings): Read {
  const title = visibleName(given.title) || given.name;
  const description = visibleName(given.description);
  const problem = problemOfTexts({ ...given, title, description });
  if (problem !== undefined) return refused(problem);
  const tags = readTags(given.settings.tags ?? []);
  if (tags.kind === "refused") return tags;
  const kept = withoutEmpty({ ...given.settings, tags: tags.tags });
  const wrong = problemOfSettings(kept, settings);
  if (wrong !== undefined) return refused(wrong);
  return {
    kind: "read",
    written: { name: given.name, title, description, offered: given.offered, settings: kept },
  };
}

function problemOfTexts({ name, title, description }: Written): string | undefined {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(name))
    return "The name of a template has 1 to 32 of a-z, 0-9 and -, no dash at an edge.";
  const { longestTitle, longestDescription } = contracts;
  if (title.length > longestTitle)
    return `A title has at most ${longestTitle} characters; this one has ${title.length}.`;
  if (description.length > longestDescription)
    return `A description has at most ${longestDescription} characters; this one has ${description.length}.`;
  return undefined;
}

function problemOfSettings(
  template: contracts.TemplateSettings,
  settings: NewServerSettings,
): string | undefined {
  const { image, env = [] } = template;
  if (image?.includes("@"))
    return "Name the image by its tag, without a digest: each server gets the digest that the tag names when it is made.";
  if (image !== undefined && /\s/.test(image)) return "The image has a space in its name.";
  const twice = env.find(({ name }, at) => env.findIndex((other) => other.name === name) !== at);
  if (twice) return `The variable ${twice.name} is there twice.`;
  const made = specOf(template, settings);
  if (made.kind === "refused") return made.message;
  return faultOfSpec(made.spec, settings.default_storage)?.replace(/^spec\./, "settings.");
}

/** What a server of the template would be, but for its names and its node. */
export function specOf(
  template: contracts.TemplateSettings,
  settings: NewServerSettings,
): { kind: "fine"; spec: MinecraftServerSpec } | { kind: "refused"; message: string } {
  const names = { name: "template", subdomain: "template" };
  const made = newSpec(settings, withTemplate(names, template), template);
  if (made.kind === "fine") return made;
  const { fault, message } = made.refusal;
  return refused(
    message ?? (fault === "bad_idle_stop" ? "idleStopSeconds must be 0 (off) or 60 to 86400." : fault),
  );
}

/** Without texts, lists and objects that say nothing, so that two templates that say the same are the same. */
function withoutEmpty<T extends object>(from: T): T {
  const kept = Object.entries(from)
    .map(([key, value]) => [key, isPlain(value) ? withoutEmpty(value) : value] as const)
    .filter(([, value]) => value !== undefined && value !== "" && !isEmpty(value));
  return Object.fromEntries(kept) as T;
}

const isPlain = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

type Before = Written & { revision: number };

export type Saving =
  | { kind: "unchanged" }
  | { kind: "write"; revision: number }
  | { kind: "refused"; fault: "template_exists" | "template_changed" | "template_not_found" };

/**
 * | there is             | revision given | then                                                        |
 * |----------------------|----------------|-------------------------------------------------------------|
 * | none                 | 0              | it is made                                                  |
 * | none                 | another        | not found: somebody deleted it                              |
 * | one that says this   | any            | unchanged, so a repeat whose answer was lost does no harm   |
 * | one                  | 0              | refused: the name is taken                                  |
 * | one                  | its own        | replaced                                                    |
 * | one                  | another        | refused: somebody else changed it                           |
 */
export function decideSave(before: Before | undefined, written: Written, revision: number): Saving {
  if (!before)
    return revision === 0 ? { kind: "write", revision: 1 } : { kind: "refused", fault: "template_not_found" };
  const { revision: current, ...there } = before;
  if (isDeepStrictEqual(there, written)) return { kind: "unchanged" };
  if (revision === 0) return { kind: "refused", fault: "template_exists" };
  if (revision !== current) return { kind: "refused", fault: "template_changed" };
  return { kind: "write", revision: current + 1 };
}
