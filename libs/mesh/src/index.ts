// The mesh: requests, events, views, live lines and byte lanes over NATS (architecture.md 3).

export type {
  BucketEntry,
  BucketStore,
  BucketWatchOptions,
  BucketWriteOptions,
  CallOptions,
  ConsumeOptions,
  Context,
  DeadLetters,
  Delivery,
  DownloadLane,
  EventOf,
  FollowedEvent,
  FollowOptions,
  FoundService,
  Handler,
  Lanes,
  LinePlace,
  LineWriter,
  Mesh,
  MeshOptions,
  MeshStatus,
  Outgoing,
  RawReply,
  Repeats,
  UploadHead,
  UploadLane,
  ViewMirror,
  ViewWriter,
} from "./api.ts";
export { type FetchedLane, fetchLane, sendLane } from "./byte-transfer/client.ts";
export { connectMesh } from "./connect.ts";
export { type Actor, auditActor } from "./event/actor.ts";
export { type MigrateOptions, migrateStreams } from "./stream/migrate.ts";
