import type { ReactNode } from "react";
import { Dialog as DialogBox, Heading, Modal, ModalOverlay } from "react-aria-components";
import styles from "./dialog.module.css";
import { hasTypedText } from "./typed-text.ts";

type DialogProps = {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
  /** Buttons, the acting one last. */
  actions: ReactNode;
  /** Asks before something is done; readers announce it at once. */
  isAlert?: boolean;
};

/** A dialog over the page. It takes, keeps and gives back the focus. Escape closes it, and so does a press beside it unless text was typed in it. */
export function Dialog({ title, isOpen, onClose, children, actions, isAlert = false }: DialogProps) {
  return (
    <ModalOverlay
      className={styles.scrim}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={!isAlert}
      shouldCloseOnInteractOutside={() => !holdsTypedText()}
    >
      <Modal className={styles.modal}>
        <DialogBox className={styles.dialog} role={isAlert ? "alertdialog" : "dialog"}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
          <div className={styles.actions}>{actions}</div>
        </DialogBox>
      </Modal>
    </ModalOverlay>
  );
}

function holdsTypedText(): boolean {
  return [...document.querySelectorAll("[role=dialog]")].some((dialog) => hasTypedText(dialog));
}
