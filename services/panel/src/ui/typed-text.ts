// Whether the page holds text that somebody typed and that is nowhere else yet: another page or another build would cost it.

type TextField = HTMLInputElement | HTMLTextAreaElement;

type Typed = {
  /** What the field held when it was first typed in. */
  before: string;
  /** What it held when its form was last sent. */
  sent?: string;
};

const fields = new Map<TextField, Typed>();
const keptTypes = ["text", "email", "date", "time", "datetime-local"];

/** Follows what is typed; the editor of files looks after itself. */
export function watchTypedText(): void {
  document.addEventListener("beforeinput", ({ target }) => {
    if (isKept(target) && !fields.has(target)) fields.set(target, { before: target.value });
  });
  document.addEventListener("submit", ({ target }) => {
    for (const [field, typed] of fields) if (field.form === target) typed.sent = field.value;
  });
}

/** Text in a field inside `root` that is not what stood there before, nor sent and taken. */
export function hasTypedText(root: Element = document.body): boolean {
  for (const [field, { before, sent }] of fields) {
    if (!field.isConnected) fields.delete(field);
    else if (root.contains(field) && field.value.trim() !== "" && field.value !== before) {
      if (field.value !== sent || isRefused(field)) return true;
    }
  }
  return false;
}

/** Leaves it behind: the person was asked already, or somebody else is here by now. */
export function forgetTypedText(): void {
  fields.clear();
}

/** The form of a field, or what stands beside it, says that something is wrong. */
function isRefused({ form }: TextField): boolean {
  return form?.parentElement?.querySelector("[role=alert], [aria-invalid=true]") != null;
}

/**
 * What is searched for stands in the address, what confirms an act is nothing to keep, and nobody misses a password. Whoever keeps
 * a text beyond its page marks its field with `data-kept`.
 */
function isKept(target: EventTarget | null): target is TextField {
  if (target instanceof HTMLTextAreaElement) return true;
  if (!(target instanceof HTMLInputElement) || !keptTypes.includes(target.type)) return false;
  return target.name !== confirmField && target.dataset["kept"] === undefined && !target.closest("search");
}

/** Name of the field that a person types a name in to confirm something. */
export const confirmField = "confirm";
