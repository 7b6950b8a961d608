/** Version of the HTTP description (interface.md 9). */
export const apiVersion = "4.1.0";
