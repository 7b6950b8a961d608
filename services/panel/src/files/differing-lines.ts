// Which lines of two versions of a text differ: everything that is not part of a longest common subsequence.

type Differing = { left: number[]; right: number[] };

/** More work than this is not worth the wait: then everything between the common ends counts as different. */
const mostCells = 4_000_000;

/** Numbers of the lines, from 1, that only one side has. */
export function differingLines(left: readonly string[], right: readonly string[]): Differing {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  const most = Math.min(left.length, right.length) - start;
  while (end < most && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  const middle = [left.slice(start, left.length - end), right.slice(start, right.length - end)] as const;
  const [a, b] = middle;
  const common = a.length * b.length > mostCells ? { left: new Set(), right: new Set() } : commonLines(a, b);
  const numbers = (lines: readonly string[], kept: Set<unknown>) =>
    lines.flatMap((_, at) => (kept.has(at) ? [] : [start + at + 1]));
  return { left: numbers(a, common.left), right: numbers(b, common.right) };
}

function commonLines(a: readonly string[], b: readonly string[]) {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const found = { left: new Set<number>(), right: new Set<number>() };
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      found.left.add(i++);
      found.right.add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return found;
}
