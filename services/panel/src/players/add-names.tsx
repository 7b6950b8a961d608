import { useState } from "react";
import { ApiError } from "../api/error.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { Row, Stack } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { missingFrom, parseNames } from "./player-names.ts";

type AddNamesProps = {
  label: string;
  action: string;
  typed: string;
  setTyped: (text: string) => void;
  /** Adds one player; the reply of the game. */
  add: (player: string) => Promise<string>;
  /** Reads the list again. */
  readList: () => Promise<readonly string[]>;
};

type Refused = { player: string; reply: string };

/** Adds one player or many that are pasted, one after the other, and says whom the game refused. */
export function AddNames({ label, action, typed, setTyped, add, readList }: AddNamesProps) {
  const { players, shell } = useWords();
  const [progress, setProgress] = useState<{ done: number; all: number }>();
  const [invalid, setInvalid] = useState<readonly string[]>([]);
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (names: readonly string[]) => {
    const replies = new Map<string, string>();
    try {
      for (const player of names) {
        setProgress({ done: replies.size, all: names.length });
        replies.set(player, await add(player));
        setTyped(names.slice(replies.size).join("\n"));
      }
      const missing = missingFrom(await readList(), names);
      setRefused(missing.map((player) => ({ player, reply: replies.get(player) ?? "" })));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
      await readList().catch(() => undefined);
    } finally {
      setProgress(undefined);
    }
  };
  const submit = () => {
    if (progress) return;
    const pasted = parseNames(typed);
    setInvalid(pasted.invalid);
    setRefused([]);
    setError(null);
    if (pasted.invalid.length === 0 && pasted.names.length > 0) void run(pasted.names);
  };
  return (
    <Form onSubmit={submit}>
      <Stack isTight>
        <TextArea
          label={label}
          name="names"
          value={typed}
          onChange={setTyped}
          description={players.namesHelp}
          error={invalid.length === 0 ? undefined : players.invalid(invalid.map(isolate).join(", "))}
        />
        <Failure error={error} />
        {refused.length > 0 && (
          <Notice kind="failed" isAlert>
            <p>{players.refused}</p>
            <ul>
              {refused.map(({ player, reply }) => (
                <li key={player}>
                  <bdi>{visible(player)}</bdi> · <bdi>{visible(reply)}</bdi>
                </li>
              ))}
            </ul>
          </Notice>
        )}
        <Row>
          <Button
            type="submit"
            isPending={progress !== undefined}
            whyNot={typed.trim() === "" ? shell.fillIn : undefined}
          >
            {action}
          </Button>
          {progress && progress.all > 1 && (
            <span role="status">{players.progress(progress.done, progress.all)}</span>
          )}
        </Row>
      </Stack>
    </Form>
  );
}
