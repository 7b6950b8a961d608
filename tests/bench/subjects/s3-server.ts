// The strict S3 server of libs/object-store, in a process of its own.

import { startS3Server } from "@svc/object-store/testing";
import { serveParent } from "../harness/parent.ts";

const s3 = await startS3Server();

serveParent({
  options: async () => s3.options(),
  /** How many requests came since this was asked last. */
  requests: () => s3.requests.splice(0).length,
  /** Of all objects with such a key. */
  bytes: ({ containing }: { containing: string }) =>
    s3
      .keys()
      .filter((key) => key.includes(containing))
      .reduce((sum, key) => sum + s3.bytesOf(key).length, 0),
  end: () => s3.stop(),
});
