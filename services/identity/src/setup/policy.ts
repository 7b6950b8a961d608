/** What a start does for the first owner. */
export type SetupStep = "nothing" | "keep" | "mint";

/** An owner who can sign in needs no link; a valid link is kept, so that a restart does not replace it. */
export function decideSetup(seen: { hasDurableSignIn: boolean; liveTokens: number }): SetupStep {
  if (seen.hasDurableSignIn) return "nothing";
  return seen.liveTokens > 0 ? "keep" : "mint";
}
