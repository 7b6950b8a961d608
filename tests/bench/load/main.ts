// The load generator as a process of its own: its CPU is not counted to either side.

import { serveParent } from "../harness/parent.ts";
import { downloadBytes, uploadBytes } from "./bytes.ts";
import { fetchOnce, runLoad } from "./http.ts";

serveParent({ run: runLoad, once: fetchOnce, upload: uploadBytes, download: downloadBytes });
