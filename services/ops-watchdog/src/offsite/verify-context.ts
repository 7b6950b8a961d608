// What the steps of a verification share.

import type { ObjectStore } from "@svc/object-store";
import type { KeyRing } from "@svc/sealed";
import type { ArchiveStore } from "./archive-store.ts";
import type { BuildsStore } from "./builds-store.ts";

export type VerifyDeps = {
  bucket: ObjectStore;
  ring: KeyRing;
  archives: ArchiveStore;
  builds: Pick<BuildsStore, "images" | "contexts" | "openImagePart" | "openContext">;
  bundleDir: string;
  /** Folder of the archive of the log, where there is one, and of what is known of its copies. */
  walDir: string | undefined;
  stateDir: string;
  /** Called before each copy; tests stop the process there. */
  step: (name: string) => void;
  signal: AbortSignal;
  /** Whether this host may send a damaged copy again. */
  mayRepair: boolean;
};

/** One copy: `repair` is true when a good one is there again. */
export type Check = { key: string; verify: () => Promise<void>; repair?: () => Promise<boolean> };
