import {
  type FocusEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";
import styles from "./reason.module.css";

type ReasonProps = {
  /** Why the control cannot be used now; undefined while it can. */
  text: string | undefined;
  /** What it does, which readers hear before the reason. */
  name: string | undefined;
  /** One control, which is disabled as long as there is a reason. */
  children: ReactNode;
};

/**
 * Says at a control why it cannot be used now: by keyboard, where it stays a stop of the Tab key, to readers, under a pointer and at a
 * touch.
 */
export function Reason({ text, name, children }: ReasonProps) {
  const id = useId();
  const frame = useRef<HTMLSpanElement>(null);
  const [place, setPlace] = useState<Place>();
  const isHeld = text !== undefined;
  const { noteFocus, noteBlur } = useKeptFocus(frame, isHeld);
  const open = () => isHeld && frame.current && setPlace(placeOf(frame.current));
  const close = () => setPlace(undefined);
  useEffect(() => {
    if (!isHeld) setPlace(undefined);
  }, [isHeld]);
  useEffect(() => {
    if (!place) return;
    // It would stay behind in its place.
    const leave = () => setPlace(undefined);
    window.addEventListener("scroll", leave, { capture: true, once: true });
    return () => window.removeEventListener("scroll", leave, { capture: true });
  }, [place]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a group while it holds a reason; without one nothing happens here
    <span
      ref={frame}
      className={isHeld ? styles.held : styles.free}
      {...(isHeld && { role: "group", tabIndex: 0, "aria-describedby": id })}
      onPointerEnter={open}
      onPointerLeave={close}
      onClick={open}
      onFocus={(event) => {
        noteFocus(event);
        if (event.currentTarget.matches(":focus-visible")) open();
      }}
      onBlur={(event) => {
        noteBlur(event);
        close();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !place) return;
        // The dialog around it stays.
        event.stopPropagation();
        close();
      }}
    >
      {children}
      {isHeld && (
        <span id={id} hidden>
          {name ? `${name}: ${text}` : text}
        </span>
      )}
      {isHeld &&
        place &&
        createPortal(
          <div className={styles.bubble} style={place} aria-hidden>
            {text}
          </div>,
          document.body,
        )}
    </span>
  );
}

type Place = { left: number; top?: number; bottom?: number };

const widestPx = 280;
const edgePx = 8;
const gapPx = 6;
/** As high as a reason of three lines. */
const roomPx = 72;

/** Below the control, above it at the lower edge of the window, and inside it from side to side. */
function placeOf(frame: HTMLElement): Place {
  const rect = frame.getBoundingClientRect();
  const left = Math.max(edgePx, Math.min(rect.left, window.innerWidth - widestPx - edgePx));
  const isLow = rect.bottom + roomPx > window.innerHeight;
  return isLow ? { left, bottom: window.innerHeight - rect.top + gapPx } : { left, top: rect.bottom + gapPx };
}

/**
 * A control that is disabled while it has the focus would drop it: it waits at the reason, and goes back. The browser drops the focus
 * of the frame once it is no stop of the Tab key any more, possibly before an effect runs: only the event before that says where it was.
 */
function useKeptFocus(frame: RefObject<HTMLSpanElement | null>, isHeld: boolean) {
  const hasFocus = useRef(false);
  useLayoutEffect(() => {
    const [element, focused] = [frame.current, document.activeElement];
    if (isHeld && focused !== element && element?.contains(focused)) element.focus();
  }, [frame, isHeld]);
  useEffect(() => {
    if (isHeld || !hasFocus.current) return;
    hasFocus.current = false;
    const [element, focused] = [frame.current, document.activeElement];
    // Whoever went on meanwhile stays there.
    if (focused !== element && focused !== document.body) return;
    element?.querySelector<HTMLElement>("button, input")?.focus();
  }, [frame, isHeld]);
  return {
    noteFocus: ({ target, currentTarget }: FocusEvent<HTMLElement>) => {
      hasFocus.current = target === currentTarget;
    },
    noteBlur: ({ currentTarget }: FocusEvent<HTMLElement>) => {
      // A window that is left keeps its focus, and a frame that is released is blurred by that alone.
      const isLeft = document.activeElement !== currentTarget && currentTarget.hasAttribute("tabindex");
      if (isLeft) hasFocus.current = false;
    },
  };
}
