/** Version of the HTTP description (docs/reference/http.md#version). */
export const apiVersion = "4.1.0";
