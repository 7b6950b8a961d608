// Archives, file trees and safe paths of worlds (architecture.md 8, behaviour.md h.3).

export {};
