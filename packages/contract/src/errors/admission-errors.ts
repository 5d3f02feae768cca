import { type ErrorEntry, entry } from './error-entry.ts'

/** Request admission, before anything of the body is looked at. */
export const admissionErrors = {
  MethodNotAllowed: entry(405, -32600, false, '{path} answers {allowed}, not {method}.', [
    { action: 'change the method', description: 'Use one of those that the message names.' },
  ]),
  BodyTooLarge: entry(413, -32600, false, 'The body has more than {limit_bytes} bytes.', [
    {
      action: 'send less',
      description: 'Split the request, or put the content into a file first.',
    },
  ]),
  UnsupportedMediaType: entry(415, -32600, false, 'The body must be plain JSON: {detail}', [
    {
      action: 'change the headers',
      description: 'Send Content-Type: application/json, without a content encoding.',
    },
  ]),
  HostNotAllowed: entry(421, -32600, false, 'This server does not answer for the host {host}.', [
    {
      action: 'localhost',
      description: 'Use 127.0.0.1 or localhost, or add the name to `allowed_hosts`.',
    },
  ]),
  OriginNotAllowed: entry(403, -32600, false, 'Requests from the origin {origin} are refused.', [
    { action: 'allowed_origins', description: 'An operator adds the origin to this setting.' },
  ]),
  TooManyFailures: entry(429, -32003, true, 'Too many failed logins from this address.', [
    { action: 'wait', description: 'Wait a minute. A valid token is accepted meanwhile.' },
  ]),
  LoginElsewhere: entry(403, -32600, false, 'Only the dashboard accepts passwords.', [
    { action: 'dashboard', description: 'Log in there, or send a user token here.' },
  ]),
  TooManyLogins: entry(429, -32003, true, 'Too many passwords are being checked at once.', [
    { action: 'retry', description: 'Try again in a few seconds.' },
  ]),
  SetupLinkInvalid: entry(
    410,
    -32003,
    false,
    'This setup link is not valid: it was used or replaced, or is older than 30 minutes.',
    [{ action: 'gatehouse setup-link', description: 'Print a new one on the machine itself.' }],
  ),
  WeakPassword: entry(400, -32602, false, 'This password cannot be used: {detail}', [
    { action: 'change the password', description: 'Choose one that meets what the message names.' },
  ]),
  LoginNotFound: entry(404, -32602, false, 'There is no valid login {id}.', [
    { action: 'gatehouse operator logins', description: 'See which logins there are.' },
  ]),
  OperatorNotFound: entry(404, -32602, false, 'There is no operator {name}.', [
    { action: 'gatehouse operator list', description: 'See which operators there are.' },
  ]),
} as const satisfies Record<string, ErrorEntry>
