import { until } from "@svc/local-stack/testing";
import type { Person } from "./person.ts";

/** The id of the build that a person is led to, once its page is another one than that of `id`. */
export async function otherBuild({ page }: Pick<Person, "page">, id: string): Promise<string> {
  const found = () => /^\/admin\/builds\/([^/]+)$/.exec(new URL(page.url()).pathname)?.[1];
  await until(() => found() !== undefined && found() !== id, 30_000, "the page of the new build");
  return found() ?? "";
}
