export { StackError } from "./error.ts";
export type { CaughtMail } from "./mail/message.ts";
export { type MailSink, type MailSinkOptions, startMailSink } from "./mail/sink.ts";
export { defaultCacheDirs, type FindNatsOptions, findNatsServer } from "./nats/find.ts";
export { type NatsOptions, prepareNats, type RunningNats, startNats } from "./nats/nats.ts";
export { findFreePort } from "./ports/free-port.ts";
export { choosePorts, defaultPorts, type PortName, type Ports } from "./ports/ports.ts";
export {
  type PostgresOptions,
  postgresUrl,
  preparePostgres,
  type RunningServer,
  startPostgres,
} from "./postgres/postgres.ts";
export { findProcess, isAlive, type ProcessRef } from "./process/identity.ts";
export type { ProcessPlan, Readiness } from "./process/plan.ts";
export { type DetachOptions, startDetached } from "./stack/detach.ts";
export { down } from "./stack/down.ts";
export { takesLocalNames } from "./stack/game.ts";
export { chooseServices } from "./stack/guard.ts";
export { commandHint, shellWord } from "./stack/hint.ts";
export {
  allServiceNames,
  gameServiceNames,
  type StackFacts,
  type StackOptions,
  type StackPrograms,
  type StackService,
  serviceNames,
} from "./stack/options.ts";
export { runStack, type StackOutcome } from "./stack/run.ts";
export { rotateToken } from "./stack/secrets.ts";
export { findMigrateEnv, serviceNodeFlags } from "./stack/services.ts";
export { announcement, findStackFile, type StackFile } from "./stack/stack-file.ts";
export type { ChildSpec } from "./supervisor/child.ts";
export { openRegistry, type Registry } from "./supervisor/registry.ts";
export {
  createSupervisor,
  type RunningProcess,
  type Supervisor,
  type SupervisorOptions,
} from "./supervisor/supervisor.ts";
