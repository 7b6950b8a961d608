// What the steps of a pass share.

import type { ObjectStore } from "@svc/object-store";
import type { offsites } from "@svc/proto";
import type { KeyRing } from "@svc/sealed";
import type { OffsiteSettings } from "../config.ts";
import type { PassReport } from "../database.ts";
import type { ArchiveStore } from "./archive-store.ts";
import type { BuildsStore } from "./builds-store.ts";
import type { Claim } from "./claim.ts";
import type { Listing } from "./listing.ts";
import type { Packed } from "./packed-copies.ts";
import type { Progress } from "./progress.ts";

export type PassDeps = {
  bucket: ObjectStore;
  ring: KeyRing;
  settings: OffsiteSettings;
  bundleDir: string;
  host: { id: string; name: string };
  archives: ArchiveStore;
  builds: BuildsStore;
  wal: {
    /** Folder of the archive of the log; undefined where there is none. */
    dir: string | undefined;
    /** How long it is kept there. */
    keepMs: number;
    /** Runs the work unless another process sends the log; then it answers undefined. */
    exclusively: <T>(work: () => Promise<T>) => Promise<T | undefined>;
  };
  /** Takes a bundle with the times of off-site copies. */
  takeBundle: () => Promise<unknown>;
  now: () => number;
  /** Called before each step; tests stop the process there. */
  step: (name: string) => void;
  onProgress: (progress: offsites.OffsiteProgress) => void;
  signal: AbortSignal;
};

export type Pass = PassDeps & {
  claim: Claim;
  listing: Listing;
  packed: Packed;
  /** Whether deduplicated archives are copied as packs. */
  arePacksSent: boolean;
  progress: Progress;
  report: PassReport;
  /** Runs the work on one object; its failure is recorded, and the pass goes on. True when it succeeded. */
  attempt: (key: string, work: () => Promise<void>) => Promise<boolean>;
};
