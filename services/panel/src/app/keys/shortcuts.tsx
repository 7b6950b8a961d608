import { startTransition, useEffect } from "react";
import type { Me } from "../../api/session.ts";
import { useToast } from "../../ui/toasts.tsx";
import { useFirstWords } from "../../words/words.ts";
import { createPart } from "../part.tsx";
import { isMac } from "./platform.ts";
import { type Shortcut, shortcutOf } from "./shortcut.ts";
import { hasSingleKeys } from "./single-keys.ts";

export type Overlay = "palette" | "help" | undefined;

const Palette = createPart(async () => (await import("./palette.tsx")).Palette);
const KeyHelp = createPart(async () => (await import("./key-help.tsx")).KeyHelp);

type ShortcutsProps = { me: Me; overlay: Overlay; setOverlay: (overlay: Overlay) => void };

/** The keys that work on every page, and what they open. */
export function Shortcuts({ me, overlay, setOverlay }: ShortcutsProps) {
  const { shell } = useFirstWords();
  const toast = useToast();
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const shortcut = shortcutOf(event, {
        isMac,
        isTyping: isTyping(event),
        isInDialog: document.querySelector("[role=dialog], [role=alertdialog]") !== null,
        hasSingleKeys: hasSingleKeys(),
      });
      if (!shortcut) return;
      event.preventDefault();
      const next = overlayOf(shortcut);
      // The key itself is answered before what it opens is drawn.
      startTransition(() => setOverlay(next));
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [setOverlay]);
  const close = () => setOverlay(undefined);
  const missing = () => {
    close();
    toast({ kind: "failed", text: shell.partMissing });
  };
  return (
    <>
      {overlay === "palette" && (
        <Palette me={me} onClose={close} onHelp={() => setOverlay("help")} onMissing={missing} />
      )}
      {overlay === "help" && <KeyHelp onClose={close} onMissing={missing} />}
    </>
  );
}

/** The search of the page has no overlay; where a page has none, the palette searches. */
function overlayOf(shortcut: Shortcut): Overlay {
  if (shortcut !== "search") return shortcut;
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  if (!field) return "palette";
  field.focus();
  field.select();
  return undefined;
}

/** Also in the editor, whose field lies in a shadow root. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select")
  );
}
