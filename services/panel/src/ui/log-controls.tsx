import type { ReactNode } from "react";
import { useWords } from "../words/words.ts";
import { Button } from "./button.tsx";
import { Checkbox } from "./checkbox.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Field } from "./field.tsx";
import { Grow, Muted, Row } from "./layout.tsx";
import { saveText } from "./save-text.ts";

type View = { search: string; wraps: boolean };

type ControlsProps<Of extends View> = {
  view: Of;
  setView: (view: Of) => void;
  /** What else narrows the log. */
  children: ReactNode;
};

/** Above a log: what of it is shown, and how. */
export function LogControls<Of extends View>({ view, setView, children }: ControlsProps<Of>) {
  const { serverConsole } = useWords();
  return (
    <Row isSpread isLow>
      <Grow>
        <Field
          label={serverConsole.search}
          name="search-log"
          type="search"
          inputMode="search"
          value={view.search}
          onChange={(search) => setView({ ...view, search })}
        />
      </Grow>
      <Row>
        {children}
        <Checkbox
          label={serverConsole.wrap}
          isChecked={view.wraps}
          onChange={(wraps) => setView({ ...view, wraps })}
        />
      </Row>
    </Row>
  );
}

type ActionsProps = {
  /** How many lines are shown, or why no more come. */
  note: string;
  text: () => string;
  /** What the copy button says that it copies. */
  what: string;
  fileName: string;
};

/** Below a log: its state, and ways to take it along. */
export function LogActions({ note, text, what, fileName }: ActionsProps) {
  const { serverConsole } = useWords();
  return (
    <Row isSpread>
      <Muted>
        <span>{note}</span>
      </Muted>
      <Row>
        <CopyButton text={text} what={what} />
        <Button kind="quiet" onPress={() => saveText(fileName, text())}>
          {serverConsole.download}
        </Button>
      </Row>
    </Row>
  );
}
