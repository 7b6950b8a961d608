// The mesh: requests, events, views, live logs and byte transfers over NATS (docs/reference/mesh.md#subjects).

export type {
  BucketEntry,
  BucketStore,
  ByteTransfers,
  CallOptions,
  Context,
  EncodingHandler,
  FollowedEvent,
  Handler,
  LiveLogLine,
  LiveLogSource,
  LiveLogWriter,
  Mesh,
  RawReply,
  UploadHead,
  ViewMirror,
  ViewWriter,
} from "./api.ts";
export { fetchBytes, sendBytes, streamBytes } from "./byte-transfer/client.ts";
export { readDigest } from "./byte-transfer/content-digest.ts";
export { releaseChunk } from "./byte-transfer/release-chunk.ts";
export { writeChunk } from "./byte-transfer/written.ts";
export { connectMesh } from "./connect.ts";
export { encodedPage } from "./encoded.ts";
export { type AuditActor, auditActor } from "./event/actor.ts";
export { eventFrame } from "./live-log/frame.ts";
