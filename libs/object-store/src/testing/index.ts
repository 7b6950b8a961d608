export { type S3Server, startS3Server } from "./server.ts";
