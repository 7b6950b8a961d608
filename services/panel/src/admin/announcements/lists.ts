/** What is read again after a change. */
export const changed = ["announcements.list", "announcements.listShown", "announcements.listPublic"] as const;
