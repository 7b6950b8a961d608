export { defaultCacheDirs, findNatsServer } from "./nats/find.ts";
export { startNats } from "./nats/nats.ts";
export { findFreePort } from "./ports/free-port.ts";
export { defaultPorts } from "./ports/ports.ts";
export { startPostgres } from "./postgres/postgres.ts";
export { startDetached } from "./stack/detach.ts";
export { down } from "./stack/down.ts";
export { takesLocalNames } from "./stack/game.ts";
export { chooseServices } from "./stack/guard.ts";
export { commandHint, shellWord } from "./stack/hint.ts";
export { nodeFlags } from "./stack/node-flags.ts";
export {
  allServiceNames,
  gameServiceNames,
  type StackFacts,
  type StackOptions,
  serviceNames,
} from "./stack/options.ts";
export { runStack } from "./stack/run.ts";
export { rotateToken } from "./stack/secrets.ts";
export { findMigrateEnv } from "./stack/services.ts";
export { announcement, findStackFile, type StackFile } from "./stack/stack-file.ts";
