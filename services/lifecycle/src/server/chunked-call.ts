// Calls whose contract limits the length of a list.

const chunkSize = 500;

/** Calls once for each chunk of a list and merges the answers. */
export async function callInChunks<V>(
  keys: readonly string[],
  call: (keys: string[]) => Promise<Record<string, V>>,
): Promise<Record<string, V>> {
  const answer: Record<string, V> = {};
  for (let begin = 0; begin < keys.length; begin += chunkSize) {
    Object.assign(answer, await call(keys.slice(begin, begin + chunkSize)));
  }
  return answer;
}
