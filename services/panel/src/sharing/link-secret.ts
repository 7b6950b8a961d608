// The secret in the link of an invitation stands behind `#`, which no server is told. It leaves the address at once and outlives
// sign-in in this tab alone.

let kept: string | undefined;

/** The secret that the tab was opened with, once it has left the address. */
export function takeSecret(): string | undefined {
  const given = secretOf(location.hash);
  if (given === undefined) return kept;
  kept = given;
  history.replaceState(history.state, "", location.pathname + location.search);
  return kept;
}

/** What stands behind `#`, where it can be the secret of an invitation. */
function secretOf(hash: string): string | undefined {
  return /^#(svc_inv_[\w-]{1,120})$/.exec(hash)?.[1];
}
