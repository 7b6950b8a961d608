// Lists that the contract of another service bounds.

const batchSize = 500;

/** Asks for parts of a list that is longer than one request may be, and joins the answers. */
export async function callInChunks<V>(
  keys: readonly string[],
  ask: (keys: string[]) => Promise<Record<string, V>>,
): Promise<Record<string, V>> {
  const answer: Record<string, V> = {};
  for (let begin = 0; begin < keys.length; begin += batchSize) {
    Object.assign(answer, await ask(keys.slice(begin, begin + batchSize)));
  }
  return answer;
}
