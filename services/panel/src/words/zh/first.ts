import type { FirstWords } from "../en/first.ts";
import { faults } from "./faults.ts";
import { shell } from "./shell.ts";
import { setup, signIn } from "./sign-in.ts";

export const first: FirstWords = { faults, setup, shell, signIn };
