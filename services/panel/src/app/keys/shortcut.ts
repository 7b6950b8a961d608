// Which key does what, wherever somebody is in the panel.

export type Shortcut = "palette" | "search" | "help";

type Key = Pick<
  KeyboardEvent,
  "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "repeat" | "isComposing" | "defaultPrevented"
>;

type Situation = {
  isMac: boolean;
  /** The focus is where letters are typed. */
  isTyping: boolean;
  /** A dialog is open: its keys are its own. */
  isInDialog: boolean;
  hasSingleKeys: boolean;
};

const singles: Readonly<Record<string, Shortcut>> = { "/": "search", "?": "help" };

/** What a key asks for, if anything. */
export function shortcutOf(key: Key, about: Situation): Shortcut | undefined {
  if (key.isComposing || key.defaultPrevented || key.repeat || key.altKey || about.isInDialog)
    return undefined;
  if (key.ctrlKey || key.metaKey) {
    const isCommand = about.isMac ? key.metaKey && !key.ctrlKey : key.ctrlKey && !key.metaKey;
    return isCommand && !key.shiftKey && key.key.toLowerCase() === "k" ? "palette" : undefined;
  }
  return about.hasSingleKeys && !about.isTyping ? singles[key.key] : undefined;
}
