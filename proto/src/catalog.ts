// The whole of what svc offers, in one list. A new contract file is added here and nowhere else.

import * as acceptance from "./builds/acceptance.ts";
import * as build from "./builds/build.ts";
import * as buildsHealth from "./builds/health.ts";
import * as image from "./builds/image.ts";
import * as buildsOffsite from "./builds/offsite.ts";
import * as provenance from "./builds/provenance.ts";
import * as registry from "./builds/registry.ts";
import * as scan from "./builds/scan.ts";
import * as submission from "./builds/submission.ts";
import type { Owner } from "./caller.ts";
import type { AnyContract, Bucket, EventContract, ProcessOperation } from "./contract.ts";
import * as change from "./gateway/change.ts";
import * as process from "./gateway/process.ts";
import * as account from "./identity/account.ts";
import * as accountMigration from "./identity/account-migration.ts";
import * as apiToken from "./identity/api-token.ts";
import * as cliLogin from "./identity/cli-login.ts";
import * as identityHealth from "./identity/health.ts";
import * as link from "./identity/link.ts";
import * as notice from "./identity/notice.ts";
import * as oidc from "./identity/oidc.ts";
import * as passkey from "./identity/passkey.ts";
import * as playerData from "./identity/player-data.ts";
import * as quota from "./identity/quota.ts";
import * as sessionVerifier from "./identity/session-verifier.ts";
import * as setting from "./identity/setting.ts";
import * as signIn from "./identity/sign-in.ts";
import * as sshKey from "./identity/ssh-key.ts";
import * as user from "./identity/user.ts";
import * as announcement from "./lifecycle/announcement.ts";
import * as clone from "./lifecycle/clone.ts";
import * as console from "./lifecycle/console.ts";
import * as crash from "./lifecycle/crash.ts";
import * as history from "./lifecycle/history.ts";
import * as imageChoice from "./lifecycle/image-choice.ts";
import * as keepAwake from "./lifecycle/keep-awake.ts";
import * as knownPlayer from "./lifecycle/known-player.ts";
import * as member from "./lifecycle/member.ts";
import * as node from "./lifecycle/node.ts";
import * as ownership from "./lifecycle/ownership.ts";
import * as player from "./lifecycle/player.ts";
import * as reclaim from "./lifecycle/reclaim.ts";
import * as restartPolicy from "./lifecycle/restart-policy.ts";
import * as schedule from "./lifecycle/schedule.ts";
import * as server from "./lifecycle/server.ts";
import * as serverFilter from "./lifecycle/server-filter.ts";
import * as serverGroup from "./lifecycle/server-group.ts";
import * as serverTemplate from "./lifecycle/server-template.ts";
import * as statusPage from "./lifecycle/status-page.ts";
import * as tag from "./lifecycle/tag.ts";
import * as alert from "./ops-watchdog/alert.ts";
import * as databaseBackup from "./ops-watchdog/database-backup.ts";
import * as watchdogOffsite from "./ops-watchdog/offsite.ts";
import * as update from "./ops-watchdog/update.ts";
import * as webhook from "./ops-watchdog/webhook.ts";
import * as archive from "./storage/archive.ts";
import * as backup from "./storage/backup.ts";
import * as backupChanges from "./storage/backup-changes.ts";
import * as backupKeeping from "./storage/backup-keeping.ts";
import * as drill from "./storage/drill.ts";
import * as storageExport from "./storage/export.ts";
import * as file from "./storage/file.ts";
import * as fileVersion from "./storage/file-version.ts";
import * as storageHealth from "./storage/health.ts";
import * as migration from "./storage/migration.ts";
import * as storageOffsite from "./storage/offsite.ts";
import * as origin from "./storage/origin.ts";
import * as plugin from "./storage/plugin.ts";
import * as reaper from "./storage/reaper.ts";
import * as restorePlan from "./storage/restore-plan.ts";
import * as setAside from "./storage/set-aside.ts";
import * as upload from "./storage/upload.ts";
import * as worldChange from "./storage/world-change.ts";
import type { View } from "./view.ts";

const lifecycle = [
  server,
  clone,
  player,
  ownership,
  member,
  console,
  schedule,
  history,
  crash,
  restartPolicy,
  keepAwake,
  tag,
  serverFilter,
  serverGroup,
  serverTemplate,
  node,
  imageChoice,
  reclaim,
  announcement,
  statusPage,
  knownPlayer,
];
const identity = [
  account,
  apiToken,
  sshKey,
  signIn,
  cliLogin,
  oidc,
  passkey,
  link,
  playerData,
  accountMigration,
  user,
  quota,
  setting,
  sessionVerifier,
  notice,
  identityHealth,
];
const builds = [
  buildsHealth,
  image,
  submission,
  build,
  scan,
  provenance,
  acceptance,
  registry,
  buildsOffsite,
];
const storage = [
  backup,
  backupChanges,
  backupKeeping,
  restorePlan,
  drill,
  origin,
  archive,
  file,
  plugin,
  fileVersion,
  setAside,
  upload,
  storageExport,
  migration,
  reaper,
  storageOffsite,
  worldChange,
  storageHealth,
];
const opsWatchdog = [update, databaseBackup, alert, watchdogOffsite, webhook];
const nouns: readonly Record<string, unknown>[] = [
  process,
  change,
  ...lifecycle,
  ...identity,
  ...builds,
  ...storage,
  ...opsWatchdog,
];

function collect<T extends { type: string }>(type: T["type"]): T[] {
  const isWanted = (value: unknown): value is T =>
    typeof value === "object" && value !== null && "type" in value && value.type === type;
  return nouns.flatMap((noun) => Object.values(noun).filter(isWanted));
}

/** Every request contract, operations among them. */
export const contracts: readonly AnyContract[] = collect<AnyContract>("request");
/** Those that HTTP callers reach. */
export const operations = contracts.filter((contract): contract is Operation => contract.http !== undefined);
export type Operation = AnyContract & { http: NonNullable<AnyContract["http"]> };
/** Those that each gateway answers about itself. */
export const processOperations: readonly ProcessOperation[] = collect<ProcessOperation>("process");
export const events: readonly EventContract[] = collect<EventContract>("event");
export const views: readonly View[] = collect<View>("view");
export const buckets: readonly Bucket[] = collect<Bucket>("bucket");

/** Contracts that one service answers. */
export function contractsOf(owner: Owner): readonly AnyContract[] {
  return contracts.filter((contract) => contract.owner === owner);
}
