// Every operation that an API token may call, by the noun and verb of its contract (docs/reference/api-tokens.md#reach). A file
// for each noun, so that a bundler can leave out the others.

export { apiTokens } from "./nouns/api-tokens.ts";
export { backups } from "./nouns/backups.ts";
export { changes } from "./nouns/changes.ts";
export { consoles } from "./nouns/consoles.ts";
export { crashes } from "./nouns/crashes.ts";
export { drills } from "./nouns/drills.ts";
export { exports } from "./nouns/exports.ts";
export { fileVersions } from "./nouns/file-versions.ts";
export { files } from "./nouns/files.ts";
export { histories } from "./nouns/histories.ts";
export { keepAwakes } from "./nouns/keep-awakes.ts";
export { knownPlayers } from "./nouns/known-players.ts";
export { members } from "./nouns/members.ts";
export { origins } from "./nouns/origins.ts";
export { ownership } from "./nouns/ownership.ts";
export { plugins } from "./nouns/plugins.ts";
export { restartPolicies } from "./nouns/restart-policies.ts";
export { schedules } from "./nouns/schedules.ts";
export { servers } from "./nouns/servers.ts";
export { setAsides } from "./nouns/set-asides.ts";
export { tags } from "./nouns/tags.ts";
export { uploads } from "./nouns/uploads.ts";
