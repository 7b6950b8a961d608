import { Outlet, useLocation } from "@tanstack/react-router";
import { Suspense, startTransition, useEffect, useState } from "react";
import { AnnouncementBars } from "../announcement/announcement-bars.tsx";
import { host } from "../api/hosts.ts";
import { useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { classes } from "../ui/css.ts";
import { ToastProvider } from "../ui/toasts.tsx";
import { useFirstWords } from "../words/words.ts";
import { Brand } from "./brand.tsx";
import { ConnectionBar, NewBuildBar } from "./connection-bar.tsx";
import { type Overlay, Shortcuts } from "./keys/shortcuts.tsx";
import { LiveUpdates } from "./live-updates.tsx";
import { Navigation } from "./navigation.tsx";
import { createPart } from "./part.tsx";
import { LanguageAndTheme } from "./preferences.tsx";
import { SessionDialogs } from "./session-dialogs.tsx";
import styles from "./shell.module.css";

const UploadsPanel = createPart(async () => (await import("../files/upload/uploads-panel.tsx")).UploadsPanel);
const TypedTextGuard = createPart(async () => (await import("./typed-text-guard.tsx")).TypedTextGuard);

/** Everything around a page. Who is not signed in sees no navigation. */
export function Shell() {
  const { shell } = useFirstWords();
  const { pathname } = useLocation();
  const me = useMe().data;
  const isBare = !me || pathname === "/login" || pathname === "/setup";
  const [isOpen, setOpen] = useState(false);
  const [overlay, setOverlay] = useState<Overlay>();
  const [renewals, setRenewals] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when another page opens
  useEffect(() => setOpen(false), [pathname]);
  return (
    <ToastProvider>
      {!isBare && (
        <a className={styles.skip} href="#main">
          {shell.skip}
        </a>
      )}
      <div className={classes(styles.shell, isBare && styles.bare)}>
        {!isBare && (
          <>
            <div className={styles.bar}>
              <Brand host={host} />
              <Button onPress={() => setOpen(!isOpen)}>{shell.menu}</Button>
            </div>
            <div className={styles.side} {...(isOpen && { "data-open": true })}>
              <Brand host={host} />
              <Suspense>
                <Navigation me={me} onPalette={() => startTransition(() => setOverlay("palette"))} />
              </Suspense>
            </div>
          </>
        )}
        <div className={classes(isBare && styles.alone)}>
          {isBare && <Brand host={host} />}
          <div className={styles.bars}>
            <AnnouncementBars isSignedIn={!isBare} />
            <ConnectionBar />
            <NewBuildBar />
            {!isBare && <UploadsPanel userId={me.user_id} />}
          </div>
          <main id="main" tabIndex={-1} className={styles.main}>
            <Outlet />
          </main>
          {isBare && (
            <div className={styles.settings}>
              <LanguageAndTheme />
            </div>
          )}
        </div>
      </div>
      {!isBare && (
        <>
          <Suspense>
            <LiveUpdates key={`${me.user_id} ${renewals}`} />
          </Suspense>
          <TypedTextGuard />
        </>
      )}
      <SessionDialogs onRenewed={() => setRenewals(renewals + 1)} />
      {!isBare && <Shortcuts me={me} overlay={overlay} setOverlay={setOverlay} />}
    </ToastProvider>
  );
}
