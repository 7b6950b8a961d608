type Level = "INFO" | "WARN" | "ERROR";
export type Log = Readonly<Record<"info" | "warn" | "error", (text: string) => void>>;

/** Lines as Paper prints them: `[12:00:01 INFO]: bob joined the game`. */
export function createLog(write: (line: string) => void, now: () => Date = () => new Date()): Log {
  const print = (level: Level) => (text: string) => {
    const time = now().toTimeString().slice(0, 8);
    for (const line of text.split(/\r?\n/)) write(`[${time} ${level}]: ${plain(line)}`);
  };
  return { info: print("INFO"), warn: print("WARN"), error: print("ERROR") };
}

/** What players typed can't colour, clear or forge the console. */
export function oneLine(text: string): string {
  return plain(text.replace(/[\r\n\u2028\u2029]+/g, " "));
}

/** Without colour codes of the game (`§a`), of flying-squid (`&a`) and of terminals, and without control characters. */
export function plain(text: string): string {
  const withoutTerminal = text.replaceAll(
    new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, "g"),
    "",
  );
  return withoutTerminal.replace(/[§&][0-9a-fk-orx]/gi, "").replace(/(?![\n\t])\p{Cc}/gu, "");
}
