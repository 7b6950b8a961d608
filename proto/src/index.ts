// Contracts of svc: see contract.ts for how they are declared and catalog.ts for the whole list.

export {
  contracts,
  contractsOf,
  type Durable,
  durables,
  events,
  type Operation,
  operations,
  processOperations,
  views,
} from "./catalog.ts";
export {
  type AnyContract,
  type BindingKind,
  type CallerToken,
  type Contract,
  callerTokens,
  cursor,
  type EventContract,
  event,
  type Face,
  type FaultOf,
  type Gateway,
  gateways,
  type HttpBinding,
  type InputOf,
  type Method,
  nothing,
  type OutputOf,
  type Owner,
  operation,
  owners,
  type ProcessOperation,
  page,
  request,
  type ServiceName,
  type Tier,
  type View,
  view,
} from "./contract.ts";
export {
  type AccountPrincipal,
  type Client,
  header,
  LaneTicket,
  Principal,
  SessionGrant,
  StreamTicket,
} from "./envelope.ts";
export {
  type CommonFault,
  commonFaults,
  Fault,
  type FaultName,
  type FaultOptions,
  faults,
  isFault,
  isFaultName,
  type Retry,
} from "./fault.ts";
export * as processContracts from "./gateway/process.ts";
export * as accounts from "./identity/account.ts";
export { AuditEntry, auditStream, auditSubject } from "./identity/audit.ts";
export { Role } from "./identity/role.ts";
export {
  type KubernetesCondition,
  MinecraftServer,
  type MinecraftServerSpec,
  type MinecraftServerStatus,
} from "./lifecycle/minecraft-server.ts";
export { isNameShape, isUserName, reservedNames, systemNames } from "./lifecycle/names.ts";
export * as servers from "./lifecycle/server.ts";
export {
  AutostartPolicy,
  DesiredState,
  FleetServer,
  Phase,
  PublicServerInfo,
  RetireState,
  ServerInfo,
} from "./lifecycle/server-info.ts";
export { permissionsOf } from "./nats/permissions.ts";
export { natsAuthorization, natsUsers, services } from "./nats/server-config.ts";
export {
  deadSubject,
  eventFilter,
  eventSubject,
  inboxPrefix,
  liveSubject,
  rpcSubject,
  streamName,
  streamSubjects,
} from "./nats/subjects.ts";
export { openApiDocument } from "./openapi/document.ts";
export { EmailAddress, PlayerUuid, Quantity, Sha256Hex, Timestamp } from "./text.ts";
export { apiVersion } from "./version.ts";
