import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { useWords } from "../words/words.ts";
import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";
import styles from "./toasts.module.css";

type Toast = { id: number; text: string; kind: "done" | "failed"; undo?: { word: string; run: () => void } };
type ShowToast = (toast: Omit<Toast, "id">) => void;

const ToastContext = createContext<ShowToast>(() => undefined);
const shownMs = 8_000;
let lastId = 0;

/** Tells of something that ended elsewhere than where the person looks. */
export function useToast(): ShowToast {
  return useContext(ToastContext);
}

/** Shows toasts above the page; errors stay until they are closed. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const { shell } = useWords();
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const close = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const show = useCallback<ShowToast>(
    (toast) => {
      const id = ++lastId;
      setToasts((all) => [...all.slice(-3), { ...toast, id }]);
      if (toast.kind !== "failed") setTimeout(() => close(id), shownMs);
    },
    [close],
  );
  const take = (id: number, run: () => void) => {
    close(id);
    run();
  };
  const value = useMemo(() => show, [show]);
  return (
    <ToastContext value={value}>
      {children}
      <div className={styles.region} role="status" aria-live="polite">
        {toasts.map(({ id, text, kind, undo }) => (
          <div key={id} className={styles.toast}>
            <Notice
              kind={kind}
              actions={
                <div className={styles.actions}>
                  {undo && <Button onPress={() => take(id, undo.run)}>{undo.word}</Button>}
                  <Button kind="quiet" onPress={() => close(id)}>
                    {shell.close}
                  </Button>
                </div>
              }
            >
              {text}
            </Notice>
          </div>
        ))}
      </div>
    </ToastContext>
  );
}
