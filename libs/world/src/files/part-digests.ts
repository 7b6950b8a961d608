import { createHash } from "node:crypto";
import { WorldFault } from "../fault.ts";

/** A part of an upload as it was staged. */
export type DigestedPart = { size: number; sha256: string };

type PartDigests = {
  update: (chunk: Uint8Array) => void;
  /** Call it after the last chunk. */
  end: () => void;
};

/** Hashes what arrives part by part. Throws `digest_mismatch` for anything but the parts in their order. */
export function createPartDigests(parts: readonly DigestedPart[]): PartDigests {
  let index = 0;
  let left = parts[0]?.size ?? 0;
  let hash = createHash("sha256");
  const endFullParts = () => {
    for (let part = parts[index]; part && left === 0; part = parts[index]) {
      if (hash.digest("hex") !== part.sha256) throw mismatch();
      index += 1;
      left = parts[index]?.size ?? 0;
      hash = createHash("sha256");
    }
  };
  return {
    update: (chunk) => {
      for (let rest = chunk; rest.length > 0; ) {
        endFullParts();
        if (index === parts.length) throw mismatch();
        const piece = rest.subarray(0, left);
        hash.update(piece);
        left -= piece.length;
        rest = rest.subarray(piece.length);
      }
    },
    end: () => {
      endFullParts();
      if (index < parts.length) throw mismatch();
    },
  };
}

function mismatch(): WorldFault {
  return new WorldFault(
    "digest_mismatch",
    "The received content is not what was staged. Nothing was changed.",
  );
}
