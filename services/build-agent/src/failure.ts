import { stripVTControlCharacters } from "node:util";

/** A step that failed for a reason that people can act on; its message is shown to them. */
export class StepFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, more: { exitCode?: number; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.name = "StepFailure";
    this.exitCode = more.exitCode ?? 1;
  }
}

/** Exit code of a scan that can't be judged. */
export const unreadableExit = 2;

const longestLine = 1_000;

/** One line without control characters, as a termination message takes it. */
export function lineOf(text: string): string {
  return textOf(text).trim().slice(0, longestLine);
}

/** One line without control characters; the colours that a program gave it go with their whole sequence. */
export function textOf(line: string): string {
  return stripVTControlCharacters(line).replaceAll(/\p{Cc}+/gu, " ");
}
