// Scheduled tasks of a server (api.md A19; interface.md 2.8, 2.9, 3.5; behaviour.md i.3).
// Vocabulary: due = the time a task should run; claim = take a due run so that no other replica does; step = where a
// run that takes time is.

export {};
