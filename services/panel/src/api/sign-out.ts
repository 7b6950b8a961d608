// Signing out by one's own hand: what was read or kept for the person goes, in all tabs.

const channel = new BroadcastChannel("svc.session");
const listeners = new Set<() => void>();

/** Calls back in each tab, before it loads the sign-in page. */
export function onSignOut(listener: () => void): void {
  listeners.add(listener);
}

/** After the session was ended: drops everything in all tabs, by loading the sign-in page anew. */
export function forgetSession(): void {
  channel.postMessage("signed-out");
  leave();
}

/** Another tab signed out: nothing of the person may stay here either. */
export function watchSignOut(): void {
  channel.onmessage = leave;
}

function leave(): void {
  for (const listener of listeners) listener();
  location.assign("/login");
}
