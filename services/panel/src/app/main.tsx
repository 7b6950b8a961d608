import "./first-paint.ts";
import "../ui/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { watchActivity } from "../api/activity.ts";
import { createQueryClient } from "../api/query.ts";
import { meQuery } from "../api/session.ts";
import { onSignOut, watchSignOut } from "../api/sign-out.ts";
import { applyDensity, storedDensity } from "../ui/density.ts";
import { forgetTypedText, watchTypedText } from "../ui/typed-text.ts";
import { keepPageOnDrop } from "./drops.ts";
import { LanguageProvider } from "./language-provider.tsx";
import { fetchPage, watchLinks } from "./lazy-page.ts";
import { createPanelRouter } from "./router.tsx";

const root = document.getElementById("root");
if (!root) throw new Error("the document has no root");
applyDensity(storedDensity());
watchActivity();
watchSignOut();
keepPageOnDrop();
watchTypedText();
onSignOut(forgetTypedText);
watchLinks();
// Who is here, the words and the page are asked for together: on a slow line each would take as long after the other.
const client = createQueryClient();
void client.prefetchQuery(meQuery);
fetchPage(location.pathname);
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <LanguageProvider>
        <RouterProvider router={createPanelRouter()} />
      </LanguageProvider>
    </QueryClientProvider>
  </StrictMode>,
);
