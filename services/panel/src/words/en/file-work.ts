const count = (n: number, one: string, other: string) =>
  `${n} ${new Intl.PluralRules("en").select(n) === "one" ? one : other}`;

export const fileWork = {
  search: {
    title: "Search files",
    text: "Text to look for",
    help: "It is taken as it stands. Lines of text files are searched, and names of files and folders.",
    where: "Look in",
    places: { both: "Names and text", names: "Names only", content: "Text only" },
    matchCase: "Tell large and small letters apart",
    action: "Search",
    back: "Back to the folder",
    found: (n: number) => `${count(n, "file or folder", "files and folders")} found`,
    none: "Nothing was found",
    noneHelp: "Try fewer letters, or search a folder further up.",
    moreLines: "More lines of this file have it.",
    line: (n: number) => `Line ${n}`,
    stopped: {
      matches: "More was found than is shown. Search for more letters, or in a smaller folder.",
      entries: "There are more files than one search looks at. Search in a smaller folder.",
      bytes: "There is more text than one search reads. Search in a smaller folder, or names only.",
      time: "The time of one search was over. Search in a smaller folder, or names only.",
    },
    leftOut: "Text that was not searched",
    leftOutFor: {
      large: (n: number) => `${count(n, "file", "files")} of more than 4 MiB`,
      binary: (n: number) => `${count(n, "file", "files")} without text`,
      protected: (n: number) => `${count(n, "file", "files")} with secrets of the platform`,
      unreadable: (n: number) => `${count(n, "file or folder", "files or folders")} that could not be read`,
    },
  },
  archive: {
    title: "Pack as a zip",
    help: "The zip lies beside what it holds, which stays as it is. Links and secrets of the platform are left out.",
    name: "Name of the zip",
    choose: "What to pack",
    chosen: (n: number) => `${count(n, "file or folder", "files and folders")} chosen`,
    action: "Pack",
    working: "Packing; this may take a minute and a half.",
    done: (zip: string) => `${zip} is there.`,
    doneWithout: (zip: string, n: number) => `${zip} is there, without ${count(n, "file", "files")}.`,
    faults: {
      name: "No slashes, and no name that begins with .svc-",
      ending: "The name must end in .zip",
      many: "At most 100 files and folders at once; choose the folder that holds them",
    },
    reasons: {
      special: "a link or a device",
      too_long: "its path is too long",
      unreadable: "it cannot be read",
      holes: "nearly all of it is empty space",
      protected: "a secret of the platform",
    },
  },
  history: {
    title: "Earlier versions",
    help: "What the file was before it was saved or uploaded here: the 20 newest versions of up to 256 KiB, for 90 days. What the game writes is not among them.",
    back: "Back to the file",
    none: "There is no earlier version yet",
    noneHelp: "The first one is kept when this file is saved or replaced here.",
    before: "Replaced",
    by: { you: "by you", other: "by somebody else" },
    compare: "Compare",
    close: "Close",
    awake:
      "The server is awake, so the file as it is cannot be read. Stop the server to compare and to go back.",
    gone: "The file is gone. Going back creates it again.",
    mayNot: "Your access does not let you change this file.",
    same: "The file is like this already.",
    undo: "Bring this version back",
    undone: (name: string) => `The earlier version of ${name} is back.`,
    earlier: "Earlier",
    now: "As it is now",
  },
};

export type FileWords = typeof fileWork;
