// What a bucket holds, byte for byte, in memory.

import { createHash, randomUUID } from "node:crypto";
import { Refusal } from "./refusal.ts";

export type Version = {
  versionId: string;
  /** A delete marker has no bytes. */
  bytes: Buffer | undefined;
  etag: string;
  metadata: Readonly<Record<string, string>>;
  modifiedAt: Date;
};

export type Upload = {
  key: string;
  metadata: Readonly<Record<string, string>>;
  initiatedAt: Date;
  parts: Map<number, { bytes: Buffer; etag: string; modifiedAt: Date }>;
};

export type BucketOptions = {
  /** `off` until somebody switches it on. */
  versioning: "off" | "enabled" | "suspended";
  /** Versions cannot be deleted before this many days. Needs versioning. */
  objectLock?: { mode: "GOVERNANCE" | "COMPLIANCE"; days: number } | undefined;
};

const hex = (bytes: Buffer) => createHash("md5").update(bytes).digest("hex");
export const tagOf = (bytes: Buffer): string => `"${hex(bytes)}"`;

/** The versions of each key, newest first. */
export class Bucket {
  readonly keys = new Map<string, Version[]>();
  readonly uploads = new Map<string, Upload>();
  readonly options: BucketOptions;
  readonly #now: () => number;

  constructor(options: BucketOptions, now: () => number) {
    this.options = options;
    this.#now = now;
  }

  date(): Date {
    return new Date(this.#now());
  }

  /** The newest version unless it is a delete marker, or the one that is named. */
  find(key: string, versionId?: string): Version | undefined {
    const versions = this.keys.get(key) ?? [];
    if (versionId === undefined) return versions[0]?.bytes ? versions[0] : undefined;
    return versions.find((version) => version.versionId === versionId);
  }

  put(
    key: string,
    bytes: Buffer,
    {
      metadata = {},
      etag = tagOf(bytes),
    }: { metadata?: Readonly<Record<string, string>>; etag?: string } = {},
  ): Version {
    return this.#add(key, { bytes, etag, metadata });
  }

  /** The delete marker or the version that is gone; undefined when nothing was there. */
  delete(key: string, versionId?: string): Version | undefined {
    const versions = this.keys.get(key) ?? [];
    if (versionId === undefined && this.options.versioning !== "off")
      return this.#add(key, { bytes: undefined, etag: "", metadata: {} });
    const gone = versions.find((version) => version.versionId === (versionId ?? "null"));
    if (gone?.bytes) this.#checkLock(gone);
    const left = versions.filter((version) => version !== gone);
    if (left.length > 0) this.keys.set(key, left);
    else this.keys.delete(key);
    return gone;
  }

  #checkLock({ modifiedAt }: Version): void {
    const { objectLock } = this.options;
    if (objectLock && modifiedAt.getTime() + objectLock.days * 86_400_000 > this.#now())
      throw new Refusal(403, "AccessDenied");
  }

  #add(key: string, content: Pick<Version, "bytes" | "etag" | "metadata">): Version {
    const isKept = this.options.versioning === "enabled";
    const versionId = isKept ? randomUUID() : "null";
    const version = { ...content, versionId, modifiedAt: this.date() };
    const others = (this.keys.get(key) ?? []).filter((one) => isKept || one.versionId !== "null");
    this.keys.set(key, [version, ...others]);
    return version;
  }
}
