import { type ErrorEntry, entry } from './error-entry.ts'

/** The network. */
export const networkErrors = {
  HostUnreachable: entry(502, null, true, 'The host {host} cannot be reached from here.', [
    {
      action: 'check the host',
      description:
        'Check its name and port. Addresses in the operator’s network are reachable only if the operator listed them.',
    },
  ]),
  UrlNotAllowed: entry(400, null, false, 'This address is not allowed: {detail}', [
    { action: 'fix the address', description: 'Correct what the message names and call again.' },
  ]),
  RequestNotAllowed: entry(400, null, false, 'This request is not allowed: {detail}', [
    { action: 'fix the request', description: 'Correct what the message names and call again.' },
  ]),
  RedirectRefused: entry(502, null, false, 'The redirect was not followed: {detail}', [
    {
      action: 'follow_redirects',
      description:
        'Set follow_redirects to false to see where it leads, then ask for that address itself.',
    },
  ]),
  ResponseRefused: entry(502, null, false, 'The answer of {host} cannot be used: {detail}', [
    {
      action: 'accept-encoding',
      description: 'Send the header accept-encoding: identity, or ask the operator of the host.',
    },
  ]),
  ResponseTooLarge: entry(502, null, false, 'The answer has more than {limit_bytes} bytes.', [
    {
      action: 'network.download',
      description: 'Ask for less, or download it into a file with a higher max_bytes.',
    },
  ]),
  TimedOut: entry(504, null, true, 'The answer was not complete within {timeout_seconds} s.', [
    { action: 'retry', description: 'Try again, or allow more time with timeout_seconds.' },
  ]),
  TlsFailed: entry(502, null, false, 'A secure connection to {host} could not be made: {detail}', [
    {
      action: 'outbound.ca_file',
      description:
        'If the host is one of the operator’s own, the operator can name its authority in this setting.',
    },
  ]),
} as const satisfies Record<string, ErrorEntry>
