// Runs before the other scripts are there: how the document looks. It imports nothing that they are made of, or it would wait for them.

import { showFirstView } from "../sign-in/first-view.ts";
import { chooseLanguage, storedLanguage } from "../words/language.ts";
import { applyTheme, storedTheme } from "./theme.ts";

applyTheme(storedTheme());
const language = chooseLanguage(storedLanguage(), navigator.languages);
document.documentElement.lang = language;
showFirstView(language);
