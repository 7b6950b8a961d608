import { sampleOf } from "@svc/config/testing";
import { type Route, routes } from "../../services/panel/src/app/routes.ts";

/** Addresses of all pages for who is signed in as the owner at the operator console, with the server `survival`. */
const addresses: readonly string[] = (routes as readonly Route[])
  .filter(({ path, access }) => access !== "anyone" && path !== "/admin")
  .map(({ path }) => path.replace(":name", "survival"))
  .filter((path) => !path.includes(":"));

/** Those that read something again and again. */
const still = ["/cli", "/servers/new"];

/** All of them, or some spread over the list, each with its place in it. */
export const sampledAddresses = (count: number): readonly [at: number, path: string][] =>
  sampleOf(
    [...addresses.entries()].filter(([, path]) => !still.includes(path)),
    count,
  ).slice();
