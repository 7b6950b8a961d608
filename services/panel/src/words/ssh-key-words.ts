// Words of SSH keys and of SFTP.

import { use } from "react";
import type { SshKeyWords } from "./en/ssh-keys.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<SshKeyWords>({
  en: async () => (await import("./en/ssh-keys.ts")).sshKeys,
  "zh-CN": async () => (await import("./zh/ssh-keys.ts")).sshKeys,
});

/** Suspends until the catalogue of the person's language is there. */
export function useSshKeyWords(): SshKeyWords {
  return use(load(useLanguage().language));
}
