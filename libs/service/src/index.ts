export { type Running, type Runtime, runService, schemaOf } from "./run.ts";
