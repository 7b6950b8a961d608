import { faults } from "./faults.ts";
import { shell } from "./shell.ts";
import { setup, signIn } from "./sign-in.ts";

/** What sign-in and the frame of every page say; the type of the same of all languages. */
export const first = { faults, setup, shell, signIn };

/** English is the type of every other catalogue, so a missing key does not compile. */
export type FirstWords = typeof first;
