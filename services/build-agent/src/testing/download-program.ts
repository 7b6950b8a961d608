// Downloads what the plan of a pack names, as a process that a test can kill: `node download-program.ts CONTEXT HOST CA`.

import { Folder } from "@svc/world";
import { downloadAll } from "../context/downloads.ts";

const [context = "", host = "", ca = ""] = process.argv.slice(2);
await using root = await Folder.openRoot(context);
await downloadAll(
  root,
  { hosts: [host], files: 3, bytes: 1 << 20 },
  {
    say: (line) => void process.stdout.write(`${line}\n`),
    signal: new AbortController().signal,
    limits: { stallMs: 60_000, retryMs: 60_000 },
    network: {
      resolve: async () => [{ address: "127.0.0.1", family: 4 }],
      isPublic: (address) => address === "127.0.0.1",
      ca,
    },
  },
);
