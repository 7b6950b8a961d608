import "../ui/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { watchActivity } from "../api/activity.ts";
import { createQueryClient } from "../api/query.ts";
import { watchSignOut } from "../api/sign-out.ts";
import { watchTypedText } from "../ui/typed-text.ts";
import { keepPageOnDrop } from "./drops.ts";
import { LanguageProvider } from "./language-provider.tsx";
import { createPanelRouter } from "./router.tsx";
import { applyTheme, storedTheme } from "./theme.ts";

const root = document.getElementById("root");
if (!root) throw new Error("the document has no root");
applyTheme(storedTheme());
watchActivity();
watchSignOut();
keepPageOnDrop();
watchTypedText();
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <LanguageProvider>
        <RouterProvider router={createPanelRouter()} />
      </LanguageProvider>
    </QueryClientProvider>
  </StrictMode>,
);
