export { type SmtpSink, startSmtpSink } from "./testing/smtp-sink.ts";
