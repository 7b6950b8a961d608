// Breaks of the contracts of the last release that were decided on: the words of the check, and what becomes of callers of that
// release. `npm run released`, with which a release ends, empties it.

export const accepted: Readonly<Record<string, string>> = {};
