/** Words of SSH keys and of SFTP. */
export const sshKeys = {
  keysTitle: "SSH keys",
  about:
    "With an SSH key you reach the files of your servers by SFTP, with programs such as FileZilla, WinSCP or sftp.",
  add: "Add an SSH key",
  addAction: "Add the key",
  publicKey: "Public key",
  publicKeyHelp:
    "The line of a file such as ~/.ssh/id_ed25519.pub. The file without .pub stays on your machine.",
  publicKeyMissing: "Paste the public key.",
  isPrivate:
    "This is a private key. Paste the line of the file that ends in .pub, and show this one to nobody.",
  keyName: "Name",
  keyNameHelp: "Empty: the comment at the end of the key.",
  added: "added",
  lastUsed: "last used",
  neverUsed: "never used",
  remove: "Remove",
  removeOf: (name: string) => `Remove the SSH key ${name}`,
  removeTitle: (name: string) => `Remove ${name}?`,
  removeHelp: "It opens nothing any more, and connections that were made with it end at once.",
  removeAction: "Remove the key",
  sftp: "SFTP",
  addressHelp:
    "While the server sleeps, you reach these files by SFTP with an SSH key of your account. Type in a terminal:",
  hostKey: "At the first connection compare the fingerprint of the host key:",
  command: "the command",
  fingerprint: "the fingerprint",
  toKeys: "SSH keys of your account",
};
export type SshKeyWords = typeof sshKeys;
