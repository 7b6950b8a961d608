// Which references an entry of the whitelist admits, and the reference that a server keeps.

import { buildJobs } from "@svc/proto";
import { parseReference, type Reference } from "@svc/registry";

/** Why a text cannot be an entry of the whitelist; undefined when it can. */
export function problemOfEntry(text: string): string | undefined {
  if (text.includes("@")) return "name a tag, not a digest; servers store the digest by themselves";
  const reference = parseReference(text.endsWith(":*") ? text.slice(0, -2) : text);
  if (!reference || (text.endsWith(":*") && reference.tag !== undefined))
    return "must be an image such as registry.example.org/name:tag, or name:* for every tag";
  return undefined;
}

/**
 * Every entry that admits an image: its exact tag and its repository as a whole. A digest alone names no tag. What a build
 * has only pushed is not meant by the whole repository.
 */
export function entriesAdmitting({ name, tag, digest }: Reference): string[] {
  const whole = `${name}:*`;
  if (tag === undefined && digest !== undefined) return [whole];
  // No tag and `latest` are the same image to every runtime.
  if (tag === undefined || tag === "latest") return [whole, name, `${name}:latest`];
  return [...(buildJobs.isPushTag(tag) ? [] : [whole]), `${name}:${tag}`];
}

/** The reference with the digest that it names right now. */
export function pinned(reference: Reference, digest: string): string {
  const { name, tag } = reference;
  if (reference.digest !== undefined) return `${name}${tag === undefined ? "" : `:${tag}`}@${digest}`;
  return `${name}:${tag ?? "latest"}@${digest}`;
}
