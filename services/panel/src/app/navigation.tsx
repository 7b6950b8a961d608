import {
  Boxes,
  CircleFadingArrowUp,
  CircleUser,
  ClipboardCheck,
  Gamepad2,
  Hammer,
  HeartPulse,
  LayoutDashboard,
  LayoutTemplate,
  ListOrdered,
  type LucideProps,
  Megaphone,
  Network,
  Package,
  ScrollText,
  Search,
  Server,
  Settings,
  Users,
  Webhook,
} from "lucide-react";
import type { ComponentType } from "react";
import { host } from "../api/hosts.ts";
import type { Me } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Link } from "../ui/link.tsx";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { decideAccess } from "./access.ts";
import { DensityChoice, LanguageAndTheme } from "./preferences.tsx";
import { findRoute, type RoutePath } from "./routes.ts";
import styles from "./shell.module.css";
import { SignOutButton } from "./sign-out-button.tsx";

type Entry = {
  path: RoutePath;
  word:
    | "dashboard"
    | "servers"
    | "players"
    | "groups"
    | "packs"
    | "account"
    | "submissions"
    | "builds"
    | "images"
    | "health"
    | "updates"
    | "nodes"
    | "templates"
    | "users"
    | "audit"
    | "webhooks"
    | "announcements"
    | "settings";
  icon: ComponentType<LucideProps>;
};

/** In the order of the menu; who may not open a page does not see it. */
const own: readonly Entry[] = [
  { path: "/", word: "dashboard", icon: LayoutDashboard },
  { path: "/servers", word: "servers", icon: Server },
  { path: "/players", word: "players", icon: Gamepad2 },
  { path: "/groups", word: "groups", icon: ListOrdered },
  { path: "/submissions", word: "packs", icon: Boxes },
  { path: "/account", word: "account", icon: CircleUser },
];
const platform: readonly Entry[] = [
  { path: "/admin/health", word: "health", icon: HeartPulse },
  { path: "/admin/nodes", word: "nodes", icon: Network },
  { path: "/admin/templates", word: "templates", icon: LayoutTemplate },
  { path: "/admin/submissions", word: "submissions", icon: ClipboardCheck },
  { path: "/admin/builds", word: "builds", icon: Hammer },
  { path: "/admin/images", word: "images", icon: Package },
  { path: "/admin/users", word: "users", icon: Users },
  { path: "/admin/audit", word: "audit", icon: ScrollText },
  { path: "/admin/updates", word: "updates", icon: CircleFadingArrowUp },
  { path: "/admin/announcements", word: "announcements", icon: Megaphone },
  { path: "/admin/webhooks", word: "webhooks", icon: Webhook },
  { path: "/admin/settings", word: "settings", icon: Settings },
];

export const menuEntries: readonly Entry[] = [...own, ...platform];

/** The pages that the person can open, who they are, and the way out. */
export function Navigation({ me, onPalette }: { me: Me; onPalette: () => void }) {
  const { shell, keys } = useWords();
  return (
    <>
      <Button icon={<Search size={16} aria-hidden />} onPress={onPalette}>
        {keys.open}
      </Button>
      <nav aria-label={shell.navigation} className={styles.links}>
        <Entries of={own} me={me} />
        <Entries of={platform} me={me} title={shell.platform} />
      </nav>
      <div className={styles.foot}>
        <LanguageAndTheme />
        <DensityChoice />
        <div className={styles.who}>
          <bdi>{visible(me.email || me.username)}</bdi>
        </div>
        <SignOutButton />
      </div>
    </>
  );
}

function Entries({ of, me, title }: { of: readonly Entry[]; me: Me; title?: string }) {
  const { shell } = useWords();
  const open = of.filter(({ path }) => decideAccess(findRoute(path), { me, host }) === "show");
  if (open.length === 0) return null;
  return (
    <>
      {title !== undefined && <div className={styles.group}>{title}</div>}
      {open.map(({ path, word, icon: Icon }) => (
        <Link key={path} to={path} marksCurrent={path === "/" ? "exact" : "below"}>
          <Icon size={18} aria-hidden />
          {shell[word]}
        </Link>
      ))}
    </>
  );
}
