type Timer = { key: string; at: number };

// A binary heap; a timer that was moved or cleared stays in it until its time and is then skipped.
/** One Node timer for any number of keys; `fire` is called once when a key is due. */
export function createDelayTimers(fire: (key: string) => void) {
  const heap: Timer[] = [];
  const dueAt = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  const arm = () => {
    const next = heap[0];
    if (!next || next.at >= timerAt) return;
    clearTimeout(timer);
    timerAt = next.at;
    timer = setTimeout(fireDue, Math.min(Math.max(0, next.at - Date.now()), 2 ** 31 - 1));
  };
  const fireDue = () => {
    timerAt = Number.POSITIVE_INFINITY;
    const now = Date.now();
    for (let next = heap[0]; next && next.at <= now; next = heap[0]) {
      pop(heap);
      if (dueAt.get(next.key) !== next.at) continue;
      dueAt.delete(next.key);
      fire(next.key);
    }
    arm();
  };
  return {
    set: (key: string, at: number) => {
      dueAt.set(key, at);
      push(heap, { key, at });
      if (heap.length > 1_000 && heap.length > dueAt.size * 4) rebuild(heap, dueAt);
      arm();
    },
    clear: (key: string) => void dueAt.delete(key),
    close: () => {
      clearTimeout(timer);
      dueAt.clear();
      heap.length = 0;
    },
  };
}

function rebuild(heap: Timer[], dueAt: ReadonlyMap<string, number>): void {
  heap.length = 0;
  for (const [key, at] of dueAt) push(heap, { key, at });
}

function push(heap: Timer[], timer: Timer): void {
  let index = heap.length;
  heap.push(timer);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (!above || above.at <= timer.at) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = timer;
}

function pop(heap: Timer[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const right = left + 1;
    const leftItem = heap[left];
    if (!leftItem) break;
    const rightItem = heap[right];
    const [child, item] = rightItem && rightItem.at < leftItem.at ? [right, rightItem] : [left, leftItem];
    if (item.at >= last.at) break;
    heap[index] = item;
    index = child;
  }
  heap[index] = last;
}
