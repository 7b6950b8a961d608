import { CircleUser, LayoutDashboard, LogOut, type LucideProps, Server } from "lucide-react";
import type { ComponentType } from "react";
import { host } from "../api/hosts.ts";
import { useAction } from "../api/query.ts";
import type { Me } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Link } from "../ui/link.tsx";
import { useWords } from "../words/words.ts";
import { decideAccess } from "./access.ts";
import { LanguageAndTheme } from "./preferences.tsx";
import { findRoute, type RoutePath } from "./routes.ts";
import styles from "./shell.module.css";
import { forgetSession } from "./sign-out.ts";

type Entry = { path: RoutePath; word: "dashboard" | "servers" | "account"; icon: ComponentType<LucideProps> };

/** In the order of the menu; who may not open a page does not see it. */
const entries: readonly Entry[] = [
  { path: "/", word: "dashboard", icon: LayoutDashboard },
  { path: "/servers", word: "servers", icon: Server },
  { path: "/account", word: "account", icon: CircleUser },
];

/** The pages that the person can open, who they are, and the way out. */
export function Navigation({ me }: { me: Me }) {
  const { shell } = useWords();
  const signOut = useAction("accounts.logout");
  return (
    <>
      <nav aria-label={shell.navigation} className={styles.links}>
        {entries
          .filter(({ path }) => decideAccess(findRoute(path), { me, host }) === "show")
          .map(({ path, word, icon: Icon }) => (
            <Link key={path} to={path} marksCurrent={path === "/" ? "exact" : "below"}>
              <Icon size={18} aria-hidden />
              {shell[word]}
            </Link>
          ))}
      </nav>
      <div className={styles.foot}>
        <LanguageAndTheme />
        <div className={styles.who}>
          <bdi>{me.email || me.username}</bdi>
        </div>
        <Button
          icon={<LogOut size={16} aria-hidden />}
          isPending={signOut.isPending}
          onPress={() => signOut.mutate({}, { onSuccess: forgetSession })}
        >
          {shell.signOut}
        </Button>
      </div>
    </>
  );
}
