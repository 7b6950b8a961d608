// Contracts of svc: see contract.ts for how they are declared and catalog.ts for the whole list.

export { AccessChange, compareGrants, type RecordedGrant } from "./access/change.ts";
export { type CommandLimits, CommandPattern, isCommandAllowed } from "./access/command-limit.ts";
export {
  type Asked,
  decideAccess,
  isLive,
  type Refusal,
  type SharedServer,
  type Verdict,
} from "./access/decide.ts";
export { AccessLimits, covers, Grant, GrantedRights, MemberFacts } from "./access/grant.ts";
export { isWithin, PathPrefix } from "./access/path-limit.ts";
export { type AccessPreset, type AccessPresetName, accessPresets } from "./access/preset.ts";
export { askedBy } from "./access/rights-of.ts";
export * as serverFiles from "./apply/server-file.ts";
export * as acceptances from "./builds/acceptance.ts";
export * as baseImages from "./builds/base-image.ts";
export * as builds from "./builds/build.ts";
export * as buildJobs from "./builds/build-job.ts";
export * as buildsHealth from "./builds/health.ts";
export * as images from "./builds/image.ts";
export * as offsiteBuilds from "./builds/offsite.ts";
export * as packs from "./builds/pack.ts";
export * as provenances from "./builds/provenance.ts";
export * as registries from "./builds/registry.ts";
export * as scans from "./builds/scan.ts";
export * as submissions from "./builds/submission.ts";
export {
  type Caller,
  type CallerToken,
  callerTokens,
  type FaceHost,
  faceHosts,
  type Gateway,
  gateways,
  type Owner,
  owners,
  type ServiceName,
} from "./caller.ts";
export {
  buckets,
  contracts,
  contractsOf,
  events,
  type Operation,
  operations,
  processOperations,
  views,
} from "./catalog.ts";
export {
  type AnyContract,
  type BindingKind,
  type Bucket,
  bucket,
  type Contract,
  countedPage,
  cursor,
  type EventContract,
  event,
  type Face,
  type FaultOf,
  type HttpBinding,
  headerOf,
  type InputOf,
  type Method,
  nothing,
  type OutputOf,
  oneTimeToken,
  operation,
  type ProcessOperation,
  page,
  pathsOf,
  request,
  type Tier,
  type UploadRule,
} from "./contract.ts";
export { type Durable, durableNamed, durables } from "./durable.ts";
export {
  type AccountPrincipal,
  ByteTransferTicket,
  type Client,
  header,
  Principal,
  SessionGrant,
  StreamTicket,
} from "./envelope.ts";
export {
  type CommonFault,
  commonFaults,
  Fault,
  type FaultCode,
  type FaultName,
  type FaultOptions,
  faults,
  isFault,
  isFaultName,
} from "./fault.ts";
export { gameVersions, protocolOf, versionLabel } from "./game-version.ts";
export * as changes from "./gateway/change.ts";
export * as processContracts from "./gateway/process.ts";
export * as accounts from "./identity/account.ts";
export * as accountMigrations from "./identity/account-migration.ts";
export * as apiTokens from "./identity/api-token.ts";
export { AuditEntry, auditStream, auditSubject } from "./identity/audit.ts";
export * as cliLogins from "./identity/cli-login.ts";
export * as identityHealth from "./identity/health.ts";
export * as links from "./identity/link.ts";
export * as notices from "./identity/notice.ts";
export * as oidc from "./identity/oidc.ts";
export * as passkeys from "./identity/passkey.ts";
export * as playerData from "./identity/player-data.ts";
export * as quotas from "./identity/quota.ts";
export * as sessionVerifier from "./identity/session-verifier.ts";
export * as settings from "./identity/setting.ts";
export * as signIn from "./identity/sign-in.ts";
export * as sshKeys from "./identity/ssh-key.ts";
export * as users from "./identity/user.ts";
export { type Language, languages } from "./language.ts";
export * as announcements from "./lifecycle/announcement.ts";
export * as clones from "./lifecycle/clone.ts";
export * as consoles from "./lifecycle/console.ts";
export * as crashes from "./lifecycle/crash.ts";
export {
  forwardingKeyOf,
  parseForwardingMasters,
  serverForwardingSecret,
  sharedForwardingKey,
  systemForwardingSecrets,
  ticketSecrets,
} from "./lifecycle/forwarding.ts";
export * as histories from "./lifecycle/history.ts";
export * as imageChoices from "./lifecycle/image-choice.ts";
export * as keepAwakes from "./lifecycle/keep-awake.ts";
export * as knownPlayers from "./lifecycle/known-player.ts";
export * as members from "./lifecycle/member.ts";
export {
  type KubernetesCondition,
  MinecraftServer,
  type MinecraftServerSpec,
  type MinecraftServerStatus,
} from "./lifecycle/minecraft-server.ts";
export { isNameShape, isUserName, reservedNames, systemNames } from "./lifecycle/names.ts";
export * as nodes from "./lifecycle/node.ts";
export * as ownership from "./lifecycle/ownership.ts";
export * as players from "./lifecycle/player.ts";
export * as worlds from "./lifecycle/reclaim.ts";
export * as restartPolicies from "./lifecycle/restart-policy.ts";
export * as schedules from "./lifecycle/schedule.ts";
export * as servers from "./lifecycle/server.ts";
export * as serverFilters from "./lifecycle/server-filter.ts";
export * as serverGroups from "./lifecycle/server-group.ts";
export {
  AutostartPolicy,
  DesiredState,
  FleetServer,
  Phase,
  PublicServerInfo,
  RetireState,
  ServerCondition,
  ServerInfo,
  StartEstimate,
} from "./lifecycle/server-info.ts";
export type { ServerOwnership } from "./lifecycle/server-rows.ts";
export * as serverRows from "./lifecycle/server-rows.ts";
export { maxTagLength, maxTags, ServerTag, type TagColour, tagColours } from "./lifecycle/server-tag.ts";
export * as serverTemplates from "./lifecycle/server-template.ts";
export * as statusPages from "./lifecycle/status-page.ts";
export { PublicState } from "./lifecycle/status-page.ts";
export * as tags from "./lifecycle/tag.ts";
export { plainMotd, visibleName } from "./lifecycle/visible-name.ts";
export { keptNames } from "./nats/kept-names.ts";
export { permissionsOf } from "./nats/permissions.ts";
export { migrateUser, natsAuthorization, natsUsers, services } from "./nats/server-config.ts";
export { isSupportedNats, supportedNats } from "./nats/server-version.ts";
export {
  deadSubject,
  eventFilter,
  eventSubject,
  inboxPrefix,
  instanceFilter,
  instanceSubject,
  liveNoticeSubject,
  liveSubject,
  replicaSubject,
  rpcSubject,
  streamName,
  streamSubjects,
  viewUseSubject,
} from "./nats/subjects.ts";
export { parseNewer } from "./newer.ts";
export { openApiDocument } from "./openapi/document.ts";
export * as alerts from "./ops-watchdog/alert.ts";
export * as databaseBackups from "./ops-watchdog/database-backup.ts";
export * as offsites from "./ops-watchdog/offsite.ts";
export * as updates from "./ops-watchdog/update.ts";
export * as webhooks from "./ops-watchdog/webhook.ts";
export {
  carries,
  MemberRight,
  memberRights,
  Right,
  reaches,
  rights,
  TokenGrant,
} from "./right.ts";
export { Role } from "./role.ts";
export * as archives from "./storage/archive.ts";
export * as backups from "./storage/backup.ts";
export * as backupChanges from "./storage/backup-changes.ts";
export * as backupKeeping from "./storage/backup-keeping.ts";
export * as drills from "./storage/drill.ts";
export * as exports from "./storage/export.ts";
export * as files from "./storage/file.ts";
export * as fileVersions from "./storage/file-version.ts";
export * as storageHealth from "./storage/health.ts";
export * as migrations from "./storage/migration.ts";
export * as offsiteArchives from "./storage/offsite.ts";
export * as origins from "./storage/origin.ts";
export * as plugins from "./storage/plugin.ts";
export * as reapers from "./storage/reaper.ts";
export * as restorePlans from "./storage/restore-plan.ts";
export * as setAsides from "./storage/set-aside.ts";
export * as uploads from "./storage/upload.ts";
export * as worldChanges from "./storage/world-change.ts";
export {
  ByteCount,
  EmailAddress,
  optionalPaging,
  PlayerUuid,
  paging,
  Quantity,
  Sha256Hex,
  shortMoment,
  Timestamp,
  wholeNumber,
} from "./text.ts";
export { apiVersion } from "./version.ts";
export {
  type ChangeBinding,
  changeRights,
  type ImageBinding,
  type ItemBinding,
  type Listed,
  rowFor,
  type View,
  type ViewBinding,
  type ViewRows,
  view,
  viewRows,
} from "./view.ts";
