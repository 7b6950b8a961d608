import { useLocation, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { host } from "../../api/hosts.ts";
import type { Me } from "../../api/session.ts";
import type { ServerRow } from "../../server/row.ts";
import { tabs } from "../../server/server-frame.tsx";
import { useServers } from "../../server/use-servers.ts";
import { CommandPalette } from "../../ui/command-palette.tsx";
import { useWords, type Words } from "../../words/words.ts";
import { decideAccess } from "../access.ts";
import { menuEntries } from "../navigation.tsx";
import { findRoute } from "../routes.ts";
import { type Command, findCommands } from "./find-commands.ts";

const groups = ["server", "pages", "servers", "help"] as const;

/** Leads to any page and any server that the person may open. */
export function Palette({ me, onClose, onHelp }: { me: Me; onClose: () => void; onHelp: () => void }) {
  const words = useWords();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const { rows } = useServers();
  const [query, setQuery] = useState("");
  const commands = useMemo(
    () => commandsOf({ words, me, rows: rows ?? [], pathname }),
    [words, me, rows, pathname],
  );
  const found = findCommands(commands, query);
  const choose = (id: string) => {
    onClose();
    const to = found.find((command) => command.id === id)?.to;
    if (to === undefined) onHelp();
    else void navigate({ to });
  };
  const shown = groups.map((group) => ({
    title: words.keys.groups[group],
    commands: found.filter((command) => command.group === group),
  }));
  return (
    <CommandPalette
      label={words.keys.search}
      query={query}
      onQuery={setQuery}
      groups={shown.filter((group) => group.commands.length > 0)}
      none={words.keys.none}
      onChoose={choose}
      onClose={onClose}
    />
  );
}

type About = { words: Words; me: Me; rows: readonly ServerRow[]; pathname: string };

function commandsOf({ words, me, rows, pathname }: About): Command[] {
  const { shell, servers, keys } = words;
  const mayOpen = (path: string) => decideAccess(findRoute(path), { me, host }) === "show";
  const pages = [
    ...menuEntries.map(({ path, word }) => ({ to: path as string, word: shell[word] })),
    { to: "/servers/new", word: servers.create },
  ].filter(({ to }) => mayOpen(to));
  const open = rows.find(
    ({ name }) => pathname.startsWith(`/servers/${name}/`) || pathname === `/servers/${name}`,
  );
  const isManaged = open !== undefined && (open.isMine || me.is_admin);
  return [
    ...(isManaged ? tabs : []).map(({ path, word }): Command => {
      const to = `/servers/${open?.name}${path}`;
      return { id: `server:${to}`, group: "server", word: word(words), to };
    }),
    ...pages.map(({ to, word }): Command => ({ id: to, group: "pages", word, to })),
    ...rows.map(({ name, displayName, subdomain, owner = "" }): Command => {
      const also = `${name} ${subdomain} ${owner}`;
      return { id: `to:${name}`, group: "servers", word: displayName, also, to: `/servers/${name}` };
    }),
    { id: "help", group: "help", word: keys.title },
  ];
}
