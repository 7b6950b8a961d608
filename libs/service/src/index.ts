export { readEnvironment, type ServiceEnvironment } from "./config.ts";
export { type Running, type Runtime, runService } from "./run.ts";
