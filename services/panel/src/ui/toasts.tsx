import { X } from "lucide-react";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { type Fault, faultWords } from "../words/faults.ts";
import { formatClock } from "../words/format.ts";
import { type FirstWords, useFirstWords } from "../words/words.ts";
import { Button } from "./button.tsx";
import { useCountdown } from "./countdown.ts";
import { Notice, RequestId } from "./notice.tsx";
import styles from "./toasts.module.css";

/** What can be done about it, such as undoing it. */
type ToastAction = { word: string; run: () => void };

type Toast = {
  id: number;
  text: string;
  kind: "done" | "failed" | "waiting";
  action?: ToastAction;
  /** Under which the log has the request that failed. */
  requestId?: string | undefined;
  /** When it is too late, in milliseconds since 1970: the toast counts down to it. */
  until?: number;
};

/** Shows a toast; what comes back closes it before its time. */
type ShowToast = (toast: Omit<Toast, "id">) => () => void;

const ToastContext = createContext<ShowToast>(() => () => undefined);
const shownMs = 8_000;
let lastId = 0;

/** Tells of something that ended elsewhere than where the person looks. */
export function useToast(): ShowToast {
  return useContext(ToastContext);
}

/** Says that a request failed. */
export function failedToast(words: FirstWords, fault: Fault): Omit<Toast, "id"> {
  return { kind: "failed", text: faultWords(words, fault), requestId: fault.requestId };
}

/** Shows toasts above the page; errors, and what waits for the person, stay until they are closed. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const { shell } = useFirstWords();
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const close = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const show = useCallback<ShowToast>(
    (toast) => {
      const id = ++lastId;
      setToasts((all) => [...all.slice(-3), { ...toast, id }]);
      if (toast.kind === "done") setTimeout(() => close(id), shownMs);
      return () => close(id);
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
        {toasts.map(({ id, text, kind, action, until, requestId }) => (
          <div key={id} className={styles.toast}>
            <Notice
              kind={kind}
              actions={action && <Button onPress={() => take(id, action.run)}>{action.word}</Button>}
            >
              {text}
              {until !== undefined && <Clock until={until} />}
              {requestId !== undefined && <RequestId id={requestId} />}
            </Notice>
            <div className={styles.close}>
              <Button
                kind="quiet"
                icon={<X size={16} aria-hidden />}
                label={shell.close}
                onPress={() => close(id)}
              >
                {null}
              </Button>
            </div>
          </div>
        ))}
      </div>
    </ToastContext>
  );
}

/** Readers hear the text once, not every second of it. */
function Clock({ until }: { until: number }) {
  const left = useCountdown(until);
  return <span aria-hidden="true"> {formatClock(left)}</span>;
}
