export type { BucketOptions } from "./bucket.ts";
export type { Fault, Faults, Operation } from "./fault.ts";
export { type S3Server, type S3ServerOptions, startS3Server } from "./server.ts";
