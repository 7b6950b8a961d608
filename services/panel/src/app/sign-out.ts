const channel = new BroadcastChannel("svc.session");

/** Drops everything that was read for the person, in all tabs, by loading the sign-in page anew. */
export function forgetSession(): void {
  channel.postMessage("signed-out");
  location.assign("/login");
}

/** Another tab signed out: nothing of the person may stay here either. */
export function watchSignOut(): void {
  channel.onmessage = () => location.assign("/login");
}
