// Draws the first view while the panel is built (build/first-view.ts).

import { StrictMode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { EmailForm } from "../sign-in/email-form.tsx";
import { ComponentLanguage } from "../ui/component-language.tsx";
import { classes } from "../ui/css.ts";
import { PageFrame } from "../ui/page-frame.tsx";
import { first as en } from "../words/en/first.ts";
import { type Language, languages } from "../words/language.ts";
import { type FirstWords, FirstWordsContext } from "../words/words.ts";
import { first as zh } from "../words/zh/first.ts";
import { Brand } from "./brand.tsx";
import styles from "./shell.module.css";

const catalogues: Record<Language, FirstWords> = { en, "zh-CN": zh };
const otherHosts = { player: "%SVC_ADMIN_HOST%", operator: "%SVC_PANEL_HOST%" } as const;
const nothing = () => undefined;

type Host = keyof typeof otherHosts;

function FirstView({ host, language }: { host: Host; language: Language }) {
  const words = catalogues[language];
  return (
    <FirstWordsContext value={words}>
      <ComponentLanguage language={language}>
        <div className={classes(styles.shell, styles.bare)}>
          <div className={styles.alone}>
            <Brand host={host} />
            <main className={styles.main} aria-busy>
              <PageFrame
                title={host === "operator" ? words.signIn.operatorTitle : words.signIn.title}
                isNarrow
              >
                <EmailForm
                  host={host}
                  otherAddress={`//${otherHosts[host]}/login`}
                  email=""
                  setEmail={nothing}
                  isRunning={false}
                  problem={undefined}
                  onSubmit={nothing}
                  onPasskey={nothing}
                  onGame={nothing}
                />
              </PageFrame>
            </main>
          </div>
        </div>
      </ComponentLanguage>
    </FirstWordsContext>
  );
}

/** A hint for the image that the markup has anyway. */
const preload = /^<link rel="preload"[^>]*>/;

/** The markup of each host and language. */
export function drawFirstViews(): { name: string; markup: string }[] {
  const hosts = Object.keys(otherHosts) as Host[];
  return hosts.flatMap((host) =>
    (Object.keys(languages) as Language[]).map((language) => ({
      name: `${host} ${language}`,
      markup: renderToStaticMarkup(
        <StrictMode>
          <FirstView host={host} language={language} />
        </StrictMode>,
      ).replace(preload, ""),
    })),
  );
}
