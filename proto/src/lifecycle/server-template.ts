// Settings under a name, from which servers are made (docs/reference/server-templates.md).
// Vocabulary: template = settings that operators keep; offered = accounts may make servers of their own from it.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";
import { AfterCrash, WhenHung } from "./restart-policy.ts";
import { Resources } from "./server.ts";
import { AutostartPolicy } from "./server-info.ts";
import { tagColours } from "./server-tag.ts";

/** Templates that an installation may have. */
export const mostTemplates = 50;
/** Characters of a title, of a description and of a text for the server list. */
export const longestTitle = 64;
export const longestDescription = 256;
/** Flags, arguments and variables of a template, each; and characters of one of them. */
export const mostEntries = 50;
export const longestEntry = 1_024;

const entry = z.string().min(1).max(longestEntry);
const line = z.string().max(longestDescription).optional();
const seconds = (highest: number) => z.int().min(0).max(highest).optional();

/** What a server of the template gets; what is left out is the default of the installation, as in a creation. */
export const TemplateSettings = z.strictObject({
  /** By its tag, without a digest: each server gets the digest that the tag names when it is made. */
  image: z.string().min(1).max(512).optional(),
  memory: z.string().max(32).optional(),
  storage: z.string().max(32).optional(),
  storageClassName: z.string().min(1).max(253).optional(),
  resources: Resources.optional(),
  autostartPolicy: AutostartPolicy.optional(),
  /** 0 switches idle stop off. */
  idleStopSeconds: z.int().optional(),
  description: line,
  javaFlags: z.array(entry).max(mostEntries).optional(),
  args: z.array(entry).max(mostEntries).optional(),
  /** Only staff see them. */
  env: z
    .array(z.strictObject({ name: z.string().min(1).max(128), value: z.string().max(longestEntry) }))
    .max(mostEntries)
    .optional(),
  onlineMode: z.boolean().optional(),
  motd: z.strictObject({ running: line, stopped: line, starting: line, failed: line }).optional(),
  startup: z
    .strictObject({
      timeoutSeconds: seconds(86_400),
      readinessTimeoutSeconds: seconds(86_400),
      healthHTTPPort: seconds(65_535),
      healthHTTPPath: z.string().max(longestDescription).optional(),
    })
    .optional(),
  terminationGracePeriodSeconds: seconds(3_600),
  restart: z
    .strictObject({
      afterCrash: AfterCrash.optional(),
      whenHung: WhenHung.optional(),
      silentMinutes: z.int().min(5).max(120).optional(),
    })
    .optional(),
  tags: z
    .array(z.strictObject({ name: z.string().max(256), colour: z.enum(tagColours) }))
    .max(100)
    .optional(),
});
export type TemplateSettings = z.output<typeof TemplateSettings>;

/** Why nothing can be made of a template now; `image_unchecked`: whether its image may be used can't be asked now. */
export const ImageProblem = z.enum([
  "image_not_whitelisted",
  "image_not_in_registry",
  "image_without_provenance",
  "image_unchecked",
]);
export type ImageProblem = z.output<typeof ImageProblem>;

export const ServerTemplate = z.strictObject({
  name: z.string(),
  /** Shown to people; its name when none was given. */
  title: z.string(),
  description: z.string(),
  /** Whether accounts may make servers of their own from it; staff always may. */
  offered: z.boolean(),
  settings: TemplateSettings,
  /** Grows with each change; whoever changes it says which one they saw. */
  revision: z.int().min(1),
  /** User name of who changed it last. */
  changed_by: z.string(),
  changed_at: Timestamp,
});
export type ServerTemplate = z.output<typeof ServerTemplate>;

export const ListedTemplate = ServerTemplate.extend({
  /** Absent when servers can be made of it. */
  problem: ImageProblem.optional(),
});
export type ListedTemplate = z.output<typeof ListedTemplate>;

/** A template as an account sees it that may make a server from it: no variables, flags and arguments. */
export const OfferedTemplate = z.strictObject({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  /** Absent: that of the version most players have. */
  image: z.string().optional(),
  memory: z.string(),
  storage: z.string(),
  /** Absent without a limit. */
  cpu: z.string().optional(),
  autostartPolicy: AutostartPolicy,
  idleStopSeconds: z.int(),
  /** Absent when the account can make a server from it now. */
  problem: z.enum([...ImageProblem.options, "quota_exceeded", "creation_limit"]).optional(),
  /** Which quota would be exceeded, in words. */
  detail: z.string().optional(),
});
export type OfferedTemplate = z.output<typeof OfferedTemplate>;

const spec = "docs/reference/server-templates.md#operations";
const use = "docs/reference/server-templates.md#use";
const path = "/api/v1/platform/server-templates";
const one = `${path}/{name}` as const;
const staff = { face: "external", tier: "admin" } as const;
const own = { face: "external", tier: "app" } as const;
const params = { name: z.string().min(1).max(64) };

export const list = operation({
  subject: "lifecycle.server-template.list",
  http: { ...staff, method: "GET", path },
  output: z.strictObject({ templates: z.array(ListedTemplate), limit: z.int() }),
  deadlineMs: 10_000,
  summary: "Templates by name, each with what prevents that servers are made of it.",
  spec,
});

export const read = operation({
  subject: "lifecycle.server-template.read",
  http: { ...staff, method: "GET", path: one },
  params,
  output: ServerTemplate,
  faults: ["template_not_found"],
  summary: "One template.",
  spec,
});

export const draft = operation({
  subject: "lifecycle.server-template.draft",
  http: { ...staff, method: "GET", path: "/api/v1/servers/{name}/template" },
  params: { name: ServerNameParam },
  output: z.strictObject({
    settings: TemplateSettings,
    /** What the server has set and the settings do without. */
    left_out: z.array(z.enum(["env", "reaperExempt"])),
  }),
  faults: ["bad_name", "not_found"],
  summary: "Settings for a template that is made from a server; nothing is saved.",
  spec,
});

export const save = operation({
  subject: "lifecycle.server-template.save",
  http: { ...staff, method: "PUT", path: one },
  params,
  /** All of it is replaced. */
  body: {
    title: z.string().max(256).default(""),
    description: z.string().max(1_024).default(""),
    offered: z.boolean().default(false),
    settings: TemplateSettings,
    /** Of the template that is changed; absent or 0 makes a new one. */
    revision: z.int().min(0).default(0),
  },
  output: ServerTemplate,
  faults: ["bad_template", "template_exists", "template_not_found", "template_changed", "template_limit"],
  onceById: true,
  summary:
    "Makes a template, or replaces the one whose revision is given; servers made of it stay as they are.",
  spec,
});

export const remove = operation({
  subject: "lifecycle.server-template.remove",
  http: { ...staff, method: "DELETE", path: one, status: 204 },
  params,
  output: nothing,
  onceById: true,
  summary: "Deletes a template; servers made of it stay as they are. Nothing changes where it is not there.",
  spec,
});

export const listOffered = operation({
  subject: "lifecycle.server-template.list-offered",
  http: { ...own, method: "GET", path: "/api/v1/me/server-templates" },
  output: z.strictObject({
    templates: z.array(OfferedTemplate),
    /** Servers that the account may still make. */
    left: z.int(),
  }),
  deadlineMs: 10_000,
  summary: "Templates of which the caller may make servers, each with what prevents it now.",
  spec: use,
});

export const createOwn = operation({
  subject: "lifecycle.server.create-own",
  http: { ...own, method: "POST", path: "/api/v1/me/servers", status: 201 },
  body: {
    template: z.string().min(1).max(64),
    name: z.string().max(64),
    /** Its name when absent. */
    subdomain: z.string().max(64).optional(),
    displayName: z.string().max(256).optional(),
  },
  output: z.strictObject({
    name: z.string(),
    subdomain: z.string(),
    desiredState: z.literal("Stopped"),
  }),
  faults: [
    "template_not_found",
    "creation_limit",
    "quota_exceeded",
    "bad_name",
    "bad_subdomain",
    "bad_display_name",
    "image_not_whitelisted",
    "image_not_in_registry",
    "image_without_provenance",
    "name_taken",
    "subdomain_taken",
    "world_volume_exists",
    "registry_unavailable",
  ],
  onceById: true,
  summary: "Makes a stopped server from a template that is offered; it is the caller's from the start.",
  spec: use,
});
