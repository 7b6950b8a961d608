// Names of the streams of an owner. The configurations are in catalog.ts, which only `svc migrate up` loads.

import { auditStream, keptNames, type Owner, streamName } from "@svc/proto";
import { bucketStream } from "./key-value.ts";

/** The stream of live lines of an owner. */
export function liveStreamName(owner: Owner): string {
  return `${streamName(owner)}_LIVE`;
}

/** Names of the streams that a service cannot work without: as `allStreams`, of one owner. */
export function streamsNeededBy(owner: Owner): string[] {
  const audit = owner === "identity" ? [auditStream.name] : [];
  return [streamName(owner), liveStreamName(owner), ...audit, ...keptNames[owner].map(bucketStream)];
}
