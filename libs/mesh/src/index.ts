// The mesh: requests, events, views, live logs and byte transfers over NATS (docs/reference/mesh.md#subjects).

export type {
  BucketEntry,
  BucketStore,
  BucketWatchOptions,
  BucketWriteOptions,
  ByteDownload,
  ByteTransfers,
  ByteUpload,
  CallOptions,
  ConsumeOptions,
  Context,
  DeadLetters,
  Delivery,
  EventOf,
  FollowedEvent,
  FollowOptions,
  FoundService,
  Handler,
  LiveLogSource,
  LiveLogWriter,
  Mesh,
  MeshOptions,
  MeshStatus,
  Outgoing,
  RawReply,
  Repeats,
  UploadHead,
  ViewMirror,
  ViewWriter,
} from "./api.ts";
export { type FetchedBytes, fetchBytes, sendBytes } from "./byte-transfer/client.ts";
export { connectMesh } from "./connect.ts";
export { type Actor, auditActor } from "./event/actor.ts";
