/** Whether shortcuts use ⌘ here. */
export const isMac = /^(mac|iphone|ipad)/i.test(navigator.platform);
