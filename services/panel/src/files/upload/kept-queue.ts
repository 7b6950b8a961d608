// The queue of a tab survives its reload in localStorage: names, sizes and session ids, never bytes. Each tab has a
// queue of its own, held by a lock; the queue of a tab that was closed goes to the next one that opens.

import type { UploadItem } from "./item.ts";
import { forgetKeptUploads, keptPrefix } from "./kept-names.ts";
import { reviveItems } from "./plan.ts";
import { isOver } from "./queue.ts";

const tabKey = "svc.tab";
/** A page that is loaded again holds its lock for a moment; a tab that was duplicated holds it for good. */
const releaseMs = 2_000;

type KeptQueue = { items: UploadItem[]; save: (items: readonly UploadItem[]) => void };

/** Takes over what earlier pages of this person left, and keeps what comes. */
export async function claimKeptQueue(userId: string): Promise<KeptQueue> {
  const mine = `${keptPrefix}${userId}.`;
  // Whoever was here before did not sign out.
  forgetKeptUploads(mine);
  const earlier = sessionStorage.getItem(tabKey);
  const isMine =
    earlier !== null && (await claim(mine + earlier, { signal: AbortSignal.timeout(releaseMs) }));
  const own = isMine ? earlier : crypto.randomUUID();
  if (own !== earlier) await claim(mine + own);
  sessionStorage.setItem(tabKey, own);
  const items = reviveItems(localStorage.getItem(mine + own));
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(mine) || key === mine + own || !(await claim(key))) continue;
    items.push(...reviveItems(localStorage.getItem(key)));
    localStorage.removeItem(key);
  }
  return { items, save: (next) => store(mine + own, next) };
}

function store(key: string, items: readonly UploadItem[]): void {
  const left = items.filter((item) => !isOver(item));
  if (left.length === 0) localStorage.removeItem(key);
  else localStorage.setItem(key, JSON.stringify(left));
}

/** Takes a lock for as long as the page lives; false when another tab has it. */
function claim(name: string, options: LockOptions = { ifAvailable: true }): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = (lock: Lock | null) => {
      resolve(lock !== null);
      return lock && new Promise<never>(() => undefined);
    };
    navigator.locks.request(name, options, hold).catch(() => resolve(false));
  });
}
