import type { Language } from "@svc/proto";

type About = { host: string; validMinutes: number };

const texts: Readonly<Record<Language, (about: About) => string>> = {
  en: ({ host, validMinutes }) =>
    `Join ${host} in Minecraft and type /link. You are shown a code of eight characters: enter it here within ${validMinutes} minutes.`,
  zh: ({ host, validMinutes }) =>
    `在 Minecraft 中加入 ${host} 并输入 /link。您会看到一个八位代码：请在 ${validMinutes} 分钟内在此输入。`,
};

/** How a person links the player they are in the game. */
export function instructions(about: About, language: Language): string {
  return texts[language](about);
}
