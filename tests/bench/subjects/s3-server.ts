// The strict S3 server of libs/object-store, in a process of its own.

import { startS3Server } from "@svc/object-store/testing";
import { serveParent } from "../harness/parent.ts";

const s3 = await startS3Server();

serveParent({
  options: async () => s3.options(),
  end: () => s3.stop(),
});
