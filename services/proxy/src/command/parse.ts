// The player commands (docs/reference/proxy.md#commands).

export type Command =
  | {
      name:
        | "link"
        | "status"
        | "list"
        | "help"
        | "web"
        | "lobby"
        | "claim"
        | "migrate"
        | "usage"
        | "inviteUsage"
        | "glist";
    }
  | { name: "go"; server: string }
  | { name: "approve"; id: string; account: string | undefined }
  | { name: "invite"; player: string }
  | { name: "acceptInvite"; id: string };

/** Ours, or undefined for a command that belongs to the server the player is on. */
export function parseCommand(line: string): Command | undefined {
  const [root, ...words] = line.trim().replace(/^\//, "").split(/ +/);
  switch (root?.toLowerCase()) {
    case "link":
      return { name: "link" };
    case "felis":
      return parseFelis(words);
    case "glist":
      return { name: "glist" };
    case "invite":
      return parseInvite(words);
    default:
      return undefined;
  }
}

const plain = {
  list: "list",
  server: "list",
  help: "help",
  lobby: "lobby",
  claim: "claim",
  migrate: "migrate",
} as const;

function parseFelis(words: readonly string[]): Command {
  const [verb = "", argument] = words.map((word, index) => (index === 0 ? word.toLowerCase() : word));
  if (verb === "") return { name: "status" };
  if (verb === "web") return parseWeb(words.slice(1));
  if (verb === "go")
    return argument === undefined ? { name: "usage" } : { name: "go", server: argument.toLowerCase() };
  if (!Object.hasOwn(plain, verb)) return { name: "usage" };
  return { name: plain[verb as keyof typeof plain] };
}

function parseWeb(words: readonly string[]): Command {
  if (words.length === 0) return { name: "web" };
  const [op, verb, id, account] = words;
  if (op?.toLowerCase() !== "op" || verb?.toLowerCase() !== "approve" || !isId(id)) return { name: "usage" };
  return { name: "approve", id, account };
}

// It becomes a part of a path; the service's own ids are of these letters.
const isId = (id: string | undefined): id is string => id !== undefined && /^[\w-]{1,64}$/.test(id);

function parseInvite([first, second]: readonly string[]): Command {
  if (first === undefined) return { name: "inviteUsage" };
  if (second !== undefined && first.toLowerCase() === "accept") return { name: "acceptInvite", id: second };
  return { name: "invite", player: first };
}

const acting: ReadonlySet<Command["name"]> = new Set([
  "link",
  "go",
  "lobby",
  "claim",
  "migrate",
  "approve",
  "invite",
  "acceptInvite",
]);

/** Commands that make the proxy do something; they cost from the budget. */
export function isActing(command: Command): boolean {
  return acting.has(command.name);
}
