// What is shared with one person: rights, their limits and their end (docs/reference/shared-access.md#rights). Pure.

import { z } from "zod";
import { MemberRight } from "../right.ts";
import { Timestamp } from "../text.ts";
import { CommandPattern } from "./command-limit.ts";
import { isWithin, PathPrefix, readers, writers } from "./path-limit.ts";

const unique = <T>(given: readonly T[]) => [...new Set(given)];
const patterns = z.array(CommandPattern).min(1).max(50).transform(unique);
/** Characters of all limits of one access: they travel with every question about the server. */
const mostLimits = 8_000;
const prefixes = z.array(PathPrefix).min(1).max(50).transform(unique);

/**
 * Limits of some rights; one that is absent limits nothing. An empty list, which people read as no limit, is refused: whoever
 * may do nothing with a right does not have it. A build that does not know a limit leaves it out of answers, which opens what
 * it closes: a new limit needs a new right.
 */
export const AccessLimits = z
  .strictObject({
    /** Of what reads files, in the world or in a backup: only these files and folders. */
    read_paths: prefixes.optional(),
    /** Of what changes files, by hand or from a backup: only these files and folders. */
    write_paths: prefixes.optional(),
    /** Of `command`: only commands that begin like one of these. */
    allow_commands: patterns.optional(),
    /** Of `command`: no command that begins like one of these, whatever is allowed. */
    deny_commands: patterns.optional(),
  })
  .refine(
    (limits) => JSON.stringify(limits).length <= mostLimits,
    `must have at most ${mostLimits} characters in all`,
  );
export type AccessLimits = z.output<typeof AccessLimits>;

/** Rights as they are stored: `see` is always among them, each once, in the order of the list. */
export const GrantedRights = z
  .array(MemberRight)
  .min(1)
  .max(32)
  .transform((given) => MemberRight.options.filter((right) => right === "see" || given.includes(right)));

export const Grant = z.strictObject({
  rights: z.array(MemberRight),
  limits: AccessLimits.optional(),
  /** When the access ends; absent: it does not by itself. */
  ends_at: Timestamp.optional(),
});
export type Grant = z.output<typeof Grant>;

/** Access of one account, as the owner of a server shared it. */
export const MemberFacts = Grant.extend({ user_id: z.string() });
export type MemberFacts = z.output<typeof MemberFacts>;

/**
 * Whether everything in `asked` is in `own` too: rights, limits and end. A pattern of commands is compared as text: it must
 * be one of the own patterns, and every own denial must be repeated.
 */
export function covers(own: Grant, asked: Grant): boolean {
  return (
    asked.rights.every((right) => own.rights.includes(right)) &&
    limitsCover(own, asked) &&
    endCovers(own, asked)
  );
}

function limitsCover({ limits: own = {} }: Grant, { rights, limits: asked = {} }: Grant): boolean {
  const asks = (right: MemberRight) => rights.includes(right);
  if (readers.some(asks) && !pathsCover(own.read_paths, asked.read_paths)) return false;
  if (writers.some(asks) && !pathsCover(own.write_paths, asked.write_paths)) return false;
  // Else somebody else, whom no path of reads holds back, moves files to where they are open.
  const isMover = asks("files.write") && !pathsCover(own.read_paths, asked.write_paths);
  if (isMover && !pathsCover(own.read_paths, asked.read_paths)) return false;
  if (!asks("command")) return true;
  const { allow_commands: allowed, deny_commands: denied = [] } = own;
  if (!denied.every((pattern) => asked.deny_commands?.includes(pattern))) return false;
  return allowed === undefined || asked.allow_commands?.every((one) => allowed.includes(one)) === true;
}

function pathsCover(own: readonly string[] | undefined, asked: readonly string[] | undefined): boolean {
  return own === undefined || asked?.every((path) => isWithin(path, own)) === true;
}

function endCovers({ ends_at: own }: Grant, { ends_at: asked }: Grant): boolean {
  if (own === undefined) return true;
  return asked !== undefined && Date.parse(asked) <= Date.parse(own);
}
