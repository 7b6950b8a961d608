import { useRef, useState } from "react";
import { useAction } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { CommandField } from "../../ui/command-field.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Form } from "../../ui/form.tsx";
import { useWords } from "../../words/words.ts";
import { completionsOf } from "./completion.ts";
import { emptyHistory, remember, step } from "./history.ts";

/** Histories outlive the page, so that a look at another page loses none. */
const histories = new Map<string, typeof emptyHistory>();

/** What was typed and not sent, by server. */
const drafts = new Map<string, string>();

/** Sends one command after the other; a command that was refused stays in the field. */
export function CommandBox(props: {
  name: string;
  players: readonly string[];
  onReply: (reply: string) => void;
}) {
  const { name, players, onReply } = props;
  const { serverConsole } = useWords();
  const action = useAction("consoles.command");
  const [typed, setTypedText] = useState(() => drafts.get(name) ?? "");
  const setTyped = (text: string) => {
    if (text === "") drafts.delete(name);
    else drafts.set(name, text);
    setTypedText(text);
  };
  const history = useRef(histories.get(name) ?? emptyHistory);
  const send = () => {
    const command = typed.trim();
    if (command === "" || action.isPending) return;
    action.mutate(
      { name, command },
      {
        onSuccess: ({ output }) => {
          history.current = remember(history.current, command);
          histories.set(name, history.current);
          setTyped("");
          onReply(output);
        },
      },
    );
  };
  const move = (by: -1 | 1) => {
    const stepped = step(history.current, by, typed);
    history.current = stepped.history;
    setTyped(stepped.text);
  };
  return (
    <Form onSubmit={send}>
      {action.error && <Failure error={action.error} />}
      <CommandField
        label={serverConsole.command}
        value={typed}
        onChange={setTyped}
        onStep={move}
        suggestions={completionsOf(typed, { players, history: history.current.entries })}
        suggestionsLabel={serverConsole.completion}
        hint={serverConsole.keys}
      >
        <Button kind="primary" type="submit" isPending={action.isPending}>
          {serverConsole.send}
        </Button>
      </CommandField>
    </Form>
  );
}
