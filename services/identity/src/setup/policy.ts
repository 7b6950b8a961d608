/** What a start does about the first owner. */
export type SetupStep = "nothing" | "keep" | "mint";

/** An owner who can sign in needs no link; a link that still works is kept, so a restart does not replace it. */
export function decideSetup(seen: { hasDurableSignIn: boolean; liveTokens: number }): SetupStep {
  if (seen.hasDurableSignIn) return "nothing";
  return seen.liveTokens > 0 ? "keep" : "mint";
}
