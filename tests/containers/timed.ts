/** Does the work and prints how long it took. */
export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  console.log(`${what}: ${Math.round((performance.now() - startedAt) / 100) / 10} s`);
  return result;
}
