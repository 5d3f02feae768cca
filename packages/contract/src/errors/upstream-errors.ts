import { type ErrorEntry, entry } from './error-entry.ts'

/** MCP servers behind the gate. */
export const upstreamErrors = {
  UpstreamNotFound: entry(404, null, false, 'There is no upstream server {upstream}.', [
    { action: 'gatehouse upstream list', description: 'List the servers that there are.' },
  ]),
  UpstreamRefused: entry(400, null, false, 'The upstream server {upstream} is refused: {detail}', [
    { action: 'change the request', description: 'Correct what the message names and try again.' },
  ]),
  UpstreamFailed: entry(
    502,
    null,
    true,
    'The upstream server {upstream} does not answer: {detail}',
    [
      { action: 'retry', description: 'The next call connects again, after a pause.' },
      {
        action: 'gatehouse upstream test',
        description: 'An operator sees what fails and which hosts it may not reach.',
      },
    ],
  ),
  UpstreamNeedsLogin: entry(
    409,
    null,
    false,
    'The upstream server {upstream} wants a login, which a person does once: gatehouse upstream login {upstream}',
    [
      {
        action: 'gatehouse upstream login',
        description: 'An operator logs in to it with a browser.',
      },
    ],
  ),
  UpstreamCredentialMissing: entry(
    409,
    null,
    false,
    'The upstream server {upstream} is used with credentials of each agent alone, and {agent} has none.',
    [
      {
        action: 'gatehouse upstream login',
        description: 'An operator logs in for this agent (--as), where the server knows logins.',
      },
      {
        action: 'gatehouse upstream add',
        description: 'An operator adds the server anew, with a secret of this agent.',
      },
    ],
  ),
  UpstreamLoginRefused: entry(400, null, false, 'The login at {upstream} is refused: {detail}', [
    {
      action: 'gatehouse upstream login',
      description: 'Start the login again; nothing of this one was kept.',
    },
  ]),
  UpstreamCertificateChanged: entry(
    409,
    null,
    false,
    'The upstream server {upstream} shows another certificate than the one that was accepted: it is {found} and was {accepted}. Nothing was sent to it.',
    [
      {
        action: 'gatehouse upstream show',
        description: 'An operator checks the difference and accepts it if it is intended.',
      },
    ],
  ),
  UpstreamToolFailed: entry(502, null, false, '{detail}', [
    {
      action: 'read the message',
      description: 'It is what the upstream server says; nobody here has checked it.',
    },
  ]),
  UpstreamChanged: entry(
    412,
    null,
    false,
    'The server {upstream} was changed meanwhile; it is at version {version} now.',
    [
      {
        action: 'gatehouse upstream show',
        description: 'Look at the server again, and send the change with the ETag of that answer.',
      },
    ],
  ),
  UpstreamNotReviewed: entry(
    409,
    null,
    false,
    'The tool {tool} of {upstream} is out of service: {detail}',
    [
      {
        action: 'gatehouse upstream show',
        description: 'An operator checks the difference and accepts it.',
      },
    ],
  ),
  QuestionNotFound: entry(
    404,
    null,
    false,
    'There is no question {question_id} that waits: it was answered, or its call has ended.',
    [{ action: 'gatehouse upstream questions', description: 'List the questions that wait.' }],
  ),
  QuestionWithdrawn: entry(
    409,
    null,
    false,
    'The question {question_id} of {upstream} was withdrawn, and an answer reaches nobody: {detail}',
    [
      {
        action: 'gatehouse upstream questions',
        description: 'The agent may make its call again; the server then asks again.',
      },
    ],
  ),
  AnswerRefused: entry(400, null, false, 'The answer to {question_id} is refused: {detail}', [
    { action: 'change the answer', description: 'Correct what the message names and try again.' },
  ]),
} as const satisfies Record<string, ErrorEntry>
