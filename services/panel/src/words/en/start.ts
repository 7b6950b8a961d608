export const start = {
  title: "Starting",
  bar: "How far the start is",
  list: "Steps of the start",
  steps: {
    node: "Find a place for it",
    volume: "Attach its world",
    image: "Fetch its software",
    process: "Start the game server",
    join: "Open it to players",
  },
  states: { done: "Done", running: "Under way", failed: "Stuck", waiting: "To come" },
  about: (time: string) => `About ${time} more`,
  soon: "Any moment now",
  late: "Longer than usual",
  unknown: "First start: how long it takes is not known yet",
  seconds: (n: number) => `${n} s`,
  minutes: (n: number) => `${n} min`,
  attempt: (n: number) => `Automatic restart ${n}`,
  detail: "In the words of the cluster:",
  problems: {
    MaintenanceInProgress: {
      title: "Its world is in use",
      help: "A backup, a restore or a change of files works on the world. The server starts by itself once that ends.",
    },
    NodeUnavailable: {
      title: "Its machine is away",
      help: "The machine that holds its world cannot be reached. An operator can bring it back or move the world.",
    },
    RconSecretUnavailable: {
      title: "Its console password cannot be read",
      help: "An operator has to repair or delete the Secret; a new one is then made.",
    },
    ForwardingSecretUnavailable: {
      title: "The platform's forwarding secret cannot be read",
      help: "Nobody could be let in safely, so it waits. An operator has to repair the secret.",
    },
    StartupTimeout: {
      title: "It took too long to start",
      help: "Its console shows how far it came. Too many plugins or too little memory are the usual reasons.",
    },
    ReadinessTimeout: {
      title: "Its console did not answer",
      help: "The game server runs, but nobody can steer it. Check enable-rcon and the RCON port in server.properties.",
    },
    InvalidSpec: {
      title: "Its settings cannot work",
      help: "Correct them in its settings; it then starts by itself.",
    },
    PodUnschedulable: {
      title: "No machine has room for it",
      help: "Stop another server or give this one less memory; it starts once there is room.",
    },
    ImagePullFailed: {
      title: "Its software cannot be fetched",
      help: "The image is missing or the registry refuses it. Choose another image in its settings; until then it is tried again.",
    },
    ContainerFailed: {
      title: "It cannot be set up",
      help: "Something that it needs is missing. An operator has to look at it.",
    },
    ContainerCrashed: {
      title: "It stopped while it started",
      help: "The last lines of its console say why. It is tried again by itself.",
    },
    ContainerOutOfMemory: {
      title: "It ran out of memory",
      help: "Give it more memory in its settings, or take plugins out.",
    },
  },
  stopsIn: (clock: string) => `It stops in ${clock}`,
  stopsNow: "It stops now",
  stopHelp: "Everybody on it has been told. Nothing is lost: the world is saved first.",
  playOn: "Let them play on",
  goesOn: (name: string) => `${name} goes on. Its players have been told.`,
  on: (names: string) => `On it: ${names}`,
};
