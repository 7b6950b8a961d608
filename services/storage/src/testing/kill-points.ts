export { killPoint } from "@svc/config/testing";
