import { useLocation, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type Access, useMyAccess } from "../../access/use-access.ts";
import { host } from "../../api/hosts.ts";
import { useOperation } from "../../api/query.ts";
import type { Me } from "../../api/session.ts";
import { rowOfFleet, type ServerRow } from "../../server/row.ts";
import { isOpenTo, tabs } from "../../server/server-frame.tsx";
import { isServerName } from "../../server/use-server.ts";
import { useOwnServers } from "../../server/use-servers.ts";
import { CommandPalette } from "../../ui/command-palette.tsx";
import { useDebounced } from "../../ui/use-debounced.ts";
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
  const [query, setQuery] = useState("");
  const rows = useFoundServers(me, query);
  const open = openServer(pathname);
  const isManaged = me.is_admin || rows.some(({ name, claimable }) => name === open && !claimable);
  const { access } = useMyAccess(open ?? "", open !== undefined && isManaged);
  const commands = useMemo(
    () => commandsOf({ words, me, rows, open, access }),
    [words, me, rows, open, access],
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

const none: readonly ServerRow[] = [];

/** Of staff, who may have ten thousand servers, those that match are read; others have theirs at hand. */
function useFoundServers(me: Me, query: string): readonly ServerRow[] {
  const wanted = useDebounced(query.trim().slice(0, 100));
  const own = useOwnServers({ enabled: !me.is_admin });
  const { data } = useOperation(
    "servers.fleet",
    { limit: 20, offset: 0, ...(wanted !== "" && { query: wanted }) },
    { enabled: me.is_admin, keepsPrevious: true },
  );
  const found = useMemo(() => data?.items.map(rowOfFleet), [data]);
  return (me.is_admin ? found : own.rows) ?? none;
}

type About = {
  words: Words;
  me: Me;
  rows: readonly ServerRow[];
  /** The server whose page is open, and what the person may do there. */
  open: string | undefined;
  access: Access | undefined;
};

function openServer(pathname: string): string | undefined {
  const [, area, name = ""] = pathname.split("/");
  return area === "servers" && pathname !== "/servers/new" && isServerName(name) ? name : undefined;
}

function commandsOf({ words, me, rows, open, access }: About): Command[] {
  const { shell, servers, keys } = words;
  const mayOpen = (path: string) => decideAccess(findRoute(path), { me, host }) === "show";
  const pages = [
    ...menuEntries.map(({ path, word }) => ({ to: path as string, word: shell[word] })),
    { to: "/servers/new", word: servers.create },
  ].filter(({ to }) => mayOpen(to));
  return [
    ...(access ? tabs.filter(isOpenTo(access)) : []).map(({ path, word }): Command => {
      const to = `/servers/${open}${path}`;
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
