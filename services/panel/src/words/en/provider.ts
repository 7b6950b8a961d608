/** Words of signing in with an OpenID provider, which most installations do not have. */
export const provider = {
  offer: (name: string) => `Continue with ${name}`,
  returning: "Signing you in …",
  linking: "Linking your identity …",
  failedTitle: "The sign-in did not work",
  failedLinkTitle: "The identity was not linked",
  cancelled: "You cancelled at the provider.",
  refused: "The provider refused the sign-in. Ask those who run it.",
  elsewhere: "This sign-in was not begun in this tab. Start it again here.",
  toSignIn: "Back to sign-in",
  toAccount: "Back to your account",
  title: "Sign-in providers",
  none: "No identity is linked. With one you sign in with an account that you have elsewhere.",
  gone: (issuer: string) => `${issuer}, no longer used here`,
  linkedSince: "Linked",
  lastUsed: "Last used",
  unused: "Not used yet",
  link: (name: string) => `Link ${name}`,
  unlink: "Unlink",
  unlinkOf: (name: string) => `Unlink your identity at ${name}`,
  unlinkTitle: (name: string) => `Unlink your identity at ${name}?`,
  unlinkHelp: "It no longer signs you in, and your other sessions end.",
  unlinkAction: "Unlink the identity",
};

export type ProviderWords = typeof provider;
