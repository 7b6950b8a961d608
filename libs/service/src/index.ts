export { type Running, type Runtime, runService } from "./run.ts";
