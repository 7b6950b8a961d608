import { createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { Guarded } from "./guarded.tsx";
import { pageOf } from "./lazy-page.ts";
import { PageCrash } from "./page-crash.tsx";
import { routes } from "./routes.ts";
import { Shell } from "./shell.tsx";

/** The router over all routes of `routes.ts`. */
export function createPanelRouter() {
  const root = createRootRoute({ component: Shell, notFoundComponent: () => <NotFoundPage /> });
  const children = routes.map((route) => {
    const Page = pageOf(route.path);
    return createRoute({
      getParentRoute: () => root,
      path: route.path.replace(/:/g, "$"),
      component: () => (
        <Guarded route={route}>
          <Page />
        </Guarded>
      ),
    });
  });
  return createRouter({
    routeTree: root.addChildren(children),
    defaultErrorComponent: ({ error }) => <PageCrash message={error instanceof Error ? error.message : ""} />,
    defaultNotFoundComponent: () => <NotFoundPage />,
    scrollRestoration: true,
    trailingSlash: "never",
  });
}
