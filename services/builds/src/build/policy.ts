// What a build may be asked for, and what the installation needs for it (docs/reference/builds.md#start). Pure.

import { buildJobs } from "@svc/proto";
import { parseReference, subjectOfTag } from "@svc/registry";
import type { Settings } from "../config.ts";

/** Paths of the registry that belong to the platform. */
const reserved = ["svc/", "mirror/"];

/** The setting without which nothing can be built; undefined when all are there. */
export function missingSetting({ registry, builds }: Settings): string | undefined {
  if (registry.url === "") return "registry.url";
  if (builds.agent_image === "") return "builds.agent_image";
  if (builds.scanner === "") return "builds.scanner";
  if (builds.internal_url === "") return "builds.internal_url";
  return undefined;
}

/** Why nothing can be built here; undefined when it can. */
export function setupProblem(settings: Settings): string | undefined {
  const missing = missingSetting(settings);
  return missing && `Builds are not set up: the setting ${missing} is empty.`;
}

/** Why an image can't be built under this name; undefined when it can. */
export function targetProblem(imageRef: string, host: string): string | undefined {
  const reference = parseReference(imageRef);
  if (!reference) return `must be an image of ${host}, such as ${host}/packs/skyblock:1.0`;
  if (reference.host !== host) return `must be in the registry ${host}`;
  if (reference.digest !== undefined) return "name a tag, not a digest: the digest is that of what is built";
  if (reference.tag === undefined) return "name a tag";
  if (subjectOfTag(reference.tag) !== undefined)
    return "tags of this form list what belongs to an image; choose another";
  if (buildJobs.isPushTag(reference.tag)) return "tags of this form are those of builds; choose another";
  if (reference.path.startsWith(buildJobs.layerCachePrefix))
    return `layers for later builds are under ${buildJobs.layerCachePrefix}; choose another path`;
  const prefix = reserved.find((one) => reference.path.startsWith(one));
  return prefix && `the platform's own images are under ${prefix}; choose another path`;
}

const contextPath = /^\/api\/v1\/internal\/submissions\/(sub-[0-9a-f]{24})\/context$/;

/** The submission whose context an address names; undefined when it is no such address. */
export function submissionOf(contextRef: string, internalUrl: string): string | undefined {
  if (!contextRef.startsWith(`${internalUrl}/`)) return undefined;
  return contextPath.exec(contextRef.slice(internalUrl.length))?.[1];
}

/** As people search: an id, a status, or a part of the image's name. */
export function searchOf(query: string): { exact: string; part: string } {
  const part = query.replaceAll(/[\\%_]/g, (found) => `\\${found}`);
  return { exact: query.toLowerCase(), part: `%${part}%` };
}
