import { type ContextProblem, findContextProblem } from "./context-file.ts";

export type ChosenContext = { file: File; problem?: ContextProblem | "several" | "unreadable" };

/** Looks at the first bytes of a chosen file. */
export async function readContext(file: File, maxBytes: number | undefined): Promise<ChosenContext> {
  try {
    const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const problem = findContextProblem({ size: file.size, head }, maxBytes);
    return problem === undefined ? { file } : { file, problem };
  } catch {
    // Such as a folder, or a file that was moved.
    return { file, problem: "unreadable" };
  }
}
