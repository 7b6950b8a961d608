// Which test files a run is about.

/** What the command line asks for: files below these paths, only slow ones, and those completely. */
export type Wanted = { paths: readonly string[]; isSlow: boolean; isWhole: boolean };

/** Files that take long: those that start whole stacks, real builders or games, and tables of which a sample runs. */
const slow = /^tests\/(browser|fault|flow|kube|security\/stack)\/|\.(sampled|slow)\.test\.ts$/;

/** The files of a run: without an option those that are quick, and everything below the paths that are named. */
export function chooseFiles(all: readonly string[], { paths, isSlow, isWhole }: Wanted): string[] {
  const below = (file: string) => paths.length === 0 || paths.some((path) => file.startsWith(path));
  const isChosen = (file: string) => {
    if (isSlow || isWhole) return slow.test(file);
    return paths.length > 0 || !slow.test(file);
  };
  return all.filter((file) => below(file) && isChosen(file));
}
