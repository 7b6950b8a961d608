import { useState } from "react";
import { ApiError } from "../api/error.ts";
import { faultWords } from "../words/faults.ts";
import { useFirstWords } from "../words/words.ts";
import { isExpected, type PasskeyError } from "./passkey.ts";

type Attempt = {
  /** Runs one step; true when it succeeded. */
  run: (step: () => Promise<void>) => Promise<boolean>;
  isRunning: boolean;
  /** What went wrong, in words. */
  problem: string | undefined;
  /** The code of a refusal, where the page has more to offer than words. */
  code: string | undefined;
};

/** One step of signing in at a time, with what went wrong in words. */
export function useAttempt(): Attempt {
  const words = useFirstWords();
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<ApiError | PasskeyError>();
  const run = async (step: () => Promise<void>) => {
    setRunning(true);
    setFailure(undefined);
    try {
      await step();
      return true;
    } catch (error) {
      if (!isExpected(error)) throw error;
      setFailure(error);
      return false;
    } finally {
      setRunning(false);
    }
  };
  const problem = () => {
    if (failure === undefined) return undefined;
    if (failure instanceof ApiError) return faultWords(words, failure);
    return failure.fault === "passkeyTaken" ? words.setup.passkeyTaken : words.signIn[failure.fault];
  };
  return { run, isRunning, problem: problem(), code: failure instanceof ApiError ? failure.code : undefined };
}
