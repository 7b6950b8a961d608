/** Where a file goes: a path that ends in `/` names its folder, and `/` the world itself. */
export function within(path: string, name: string): string {
  const target = path.endsWith("/") ? `${path}${name}` : path;
  return target.replace(/^\/+/, "");
}
