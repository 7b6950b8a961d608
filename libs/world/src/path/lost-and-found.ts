/** The folder that file systems keep at their root for themselves. */
export const lostAndFound = "lost+found";

export function isLostAndFound(path: string): boolean {
  return path === lostAndFound || path.startsWith(`${lostAndFound}/`);
}
