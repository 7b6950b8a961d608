// Archives, file trees and safe paths of worlds (architecture.md 8, behaviour.md h.3).

export {
  FileEntry,
  type Place,
  Progress,
  progressMark,
  resultMark,
  Task,
  TaskDone,
  TaskFault,
  type TaskMode,
  TaskResult,
} from "./task.ts";
