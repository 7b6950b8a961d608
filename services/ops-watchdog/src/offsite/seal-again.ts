// After a rotation old objects are sealed again with the active key, some in each pass (docs/reference/off-site.md#rotation).

import { open } from "@svc/sealed";
import type { CheckedKeys } from "./check-keys.ts";
import { isSealedObject, keyIdObject } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import { sendAgain } from "./send.ts";
import { finishSpares, replaceBySpare, spareOf } from "./spare.ts";
import { isRewritten, walOfKey } from "./wal-key.ts";

export async function sealAgain(pass: Pass, keys: CheckedKeys): Promise<void> {
  const isClear = await finishSpares(pass);
  if (keys.recorded().length < 2) return;
  // The object that names the keys is written when they change: what is younger has the active key. Stores round their times.
  const rotatedAt = pass.listing.find(keyIdObject)?.modifiedAt;
  const isOld = ({ modifiedAt }: Sealed) =>
    !modifiedAt || !rotatedAt || modifiedAt.getTime() <= rotatedAt.getTime() + roundingMs;
  const sealed = pass.listing.all().filter(({ key }) => isSealedObject(key));
  const budget = { left: pass.settings.reseal_at_once };
  if (!(await sealEach(pass, sealed.filter(isOld), budget))) return;
  // Nobody may throw a key away because of a store whose clock was wrong: at the end every object is tried.
  const young = sealed.filter((one) => !isOld(one));
  if ((await sealEach(pass, young, budget)) && isClear) await keys.dropOlder();
}

type Sealed = ReturnType<Pass["listing"]["all"]>[number];

/** True when all of them are under the active key. */
async function sealEach(pass: Pass, objects: readonly Sealed[], budget: { left: number }): Promise<boolean> {
  const { step } = pass;
  let isDone = true;
  for (const object of objects) {
    if (budget.left === 0) return false;
    let isSealed = false;
    const isFine = await pass.attempt(object.key, async () => {
      isSealed = await isUnderActiveKey(pass, object.key);
      if (isSealed) return;
      budget.left -= 1;
      step("seal-again");
      isSealed = await sealOne(pass, object);
      // The older key may be thrown away once every object is under the new one: an answer alone is no proof.
      if (isSealed && !(await isUnderActiveKey(pass, object.key)))
        throw new Error("the store still has it under the older key after it was sealed again");
    });
    isDone &&= isFine && isSealed;
  }
  return isDone;
}

/** False while the log is being sent: what is written again as it grows is not put back to what it was. */
async function sealOne(pass: Pass, { key, sizeBytes, etag }: Sealed): Promise<boolean> {
  const part = walOfKey(key);
  if (!part || !isRewritten(part)) {
    await sendAgain(pass, { key, to: spareOf(key), sizeBytes, etag });
    pass.step("spare");
    await replaceBySpare(pass, key);
    return true;
  }
  const isDone = await pass.wal.exclusively(async () => {
    const found = await pass.bucket.head(key, { signal: pass.signal });
    if (found) await sendAgain(pass, { key, to: key, sizeBytes: found.sizeBytes, etag: found.etag });
    return true;
  });
  return isDone ?? false;
}

const roundingMs = 5_000;
const firstSegments = 131_072;

async function isUnderActiveKey({ bucket, ring, signal }: Pass, key: string): Promise<boolean> {
  const found = await bucket.get(key, { to: firstSegments - 1, signal });
  if (!found) return true;
  let id: string | undefined;
  try {
    for await (const _ of open(found.bytes, ring, { onKey: (key) => (id = key.id) })) break;
  } catch (error) {
    // A small range ends in the middle of a segment, after the first was opened.
    if (id === undefined) throw error;
  }
  return id === ring.active.id;
}
