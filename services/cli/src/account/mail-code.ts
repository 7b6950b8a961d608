// Exchange of a mailed code: asks again after a wrong or expired one.

import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../output.ts";
import { openPrompt } from "./prompt.ts";
import { explain, isRefusal } from "./refusal.ts";

type CodeExchange<T> = {
  /** Mails a code; absent when one was mailed and no other can be. */
  send?: () => Promise<unknown>;
  /** Tries a code. */
  verify: (code: string) => Promise<T>;
  /** A code that was given; it is tried before another one is mailed. */
  known?: string | undefined;
  /** Printed once a code was mailed. */
  sent: string;
  /** The command that continues later. */
  again: string;
};

const wrongCodes = ["invalid_code", "op_login_invalid"] as const;

/** Returns the answer to the right code. Throws a `CommandError` when no code is given or mail cannot be sent. */
export async function exchangeCode<T>(exchange: CodeExchange<T>): Promise<T> {
  const prompt = openPrompt(
    `no code was given; type it, pipe it in or pass --code. To continue, run ${exchange.again}`,
  );
  const say = (line: string) => process.stderr.write(`${line}\n`);
  try {
    let typed = exchange.known ?? "";
    const { send } = exchange;
    if (typed === "" && send) {
      const waitSeconds = await sendCode(send);
      say(waitSeconds === 0 ? exchange.sent : "A code was mailed less than a minute ago; use that one.");
    }
    for (;;) {
      if (typed === "") typed = await prompt.ask(send ? "Code (press Enter for a new one): " : "Code: ");
      if (typed === "" && send) {
        await sendAfterWait(send, say);
        say(exchange.sent);
      } else {
        const answer = await verifyCode(exchange, typed);
        if ("value" in answer) return answer.value;
        say(answer.refused);
      }
      typed = "";
    }
  } finally {
    prompt.close();
  }
}

/** Seconds until a code may be mailed; 0 when it was. */
async function sendCode(send: () => Promise<unknown>): Promise<number> {
  try {
    await send();
    return 0;
  } catch (error) {
    if (isRefusal(error, "otp_resend_cooldown")) return error.retryAfterSeconds ?? 60;
    throw explain(error);
  }
}

async function sendAfterWait(send: () => Promise<unknown>, say: (line: string) => void): Promise<void> {
  for (;;) {
    const seconds = await sendCode(send);
    if (seconds === 0) return;
    say(`A new code can be mailed in ${seconds} s; waiting ...`);
    await sleep(seconds * 1_000);
  }
}

async function verifyCode<T>(
  { verify }: CodeExchange<T>,
  code: string,
): Promise<{ value: T } | { refused: string }> {
  try {
    return { value: await verify(code) };
  } catch (error) {
    if (isRefusal(error, ...wrongCodes))
      return { refused: "That code is wrong, used or older than ten minutes." };
    if (isRefusal(error, "otp_locked"))
      return { refused: "Too many wrong tries with that code; request a new one." };
    throw error instanceof CommandError ? error : explain(error);
  }
}
