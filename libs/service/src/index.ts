export { readEnvironment, type ServiceEnvironment, serviceHelp } from "./config.ts";
export { type Running, type Runtime, runService, type ServiceDefinition, schemaOf } from "./run.ts";
