import type { ApiError } from "../api/error.ts";
import { faultWords } from "../words/faults.ts";
import { useFirstWords } from "../words/words.ts";
import { Button } from "./button.tsx";
import { Notice, RequestId } from "./notice.tsx";

/** A request that failed: what it means, its id to tell support, and a second try. */
export function Failure({ error, retry }: { error: ApiError | null; retry?: () => void }) {
  const words = useFirstWords();
  if (!error) return null;
  const { shell } = words;
  return (
    <Notice kind="failed" isAlert actions={retry && <Button onPress={retry}>{shell.retry}</Button>}>
      {faultWords(words, error)}
      {error.requestId !== undefined && <RequestId id={error.requestId} />}
    </Notice>
  );
}
