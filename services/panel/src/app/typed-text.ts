// Whether the page holds text that somebody typed and did not send: loading the panel anew would cost it.

/** What each field held when it was first typed in. */
const before = new Map<HTMLInputElement | HTMLTextAreaElement, string>();
const kept = ["text", "email", "date", "time", "datetime-local"];

/** Follows what is typed; the editor of files looks after itself. */
export function watchTypedText(): void {
  document.addEventListener("beforeinput", ({ target }) => {
    if (isKept(target) && !before.has(target)) before.set(target, target.value);
  });
  document.addEventListener("submit", ({ target }) => {
    for (const field of before.keys()) if (field.form === target) before.delete(field);
  });
}

/** Text in a field of the page that is not what stood there before, nor sent. */
export function hasTypedText(): boolean {
  for (const [field, value] of before) {
    if (!field.isConnected) before.delete(field);
    else if (field.value !== value && field.value.trim() !== "") return true;
  }
  return false;
}

/** What is searched for stands in the address, and nobody misses a password. */
function isKept(target: EventTarget | null): target is HTMLInputElement | HTMLTextAreaElement {
  return (
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && kept.includes(target.type))
  );
}
