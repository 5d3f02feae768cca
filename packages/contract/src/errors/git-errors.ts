import { type ErrorEntry, entry } from './error-entry.ts'

/** Git. */
export const gitErrors = {
  NotARepository: entry(404, null, false, 'There is no git repository at {path}: {detail}', [
    {
      action: 'path',
      description: 'Give the root folder of a repository, or make one with git.init or git.clone.',
    },
  ]),
  UnsafeRepository: entry(
    403,
    null,
    false,
    'Git is not run on {path}, because it could be led elsewhere: {detail}',
    [
      {
        action: 'git.clone',
        description:
          'Clone it again into your workspace, as a plain repository with its own .git folder.',
      },
    ],
  ),
  UnsafeRepoConfig: entry(
    403,
    null,
    false,
    'Git is not run on {path}, because its configuration sets {key}, which is not on the list of harmless settings.',
    [
      {
        action: 'remove the setting',
        description:
          'Remove it from .git/config, or let an operator allow the key with the setting git.config_allowed.',
      },
    ],
  ),
  RepoLocked: entry(
    409,
    null,
    true,
    'The repository at {path} is locked by {lock}, which is {age_seconds} s old.',
    [
      {
        action: 'retry',
        description: 'Another git process may be running: wait a few seconds and try again.',
      },
      {
        action: 'remove the lock',
        description:
          'If no git runs there any more, a person deletes the lock file, or approves a process.run that does.',
      },
    ],
  ),
  InvalidRef: entry(400, null, false, '{ref} is not a usable commit or branch: {detail}', [
    {
      action: 'git.branch',
      description: 'List the branches, or find the commit with git.log.',
    },
  ]),
  NothingToCommit: entry(409, null, false, 'There is nothing to commit: {detail}', [
    { action: 'git.status', description: 'See what has changed and what is ignored.' },
  ]),
  GitRefused: entry(409, null, false, 'Git refused this: {detail}', [
    {
      action: 'git.status',
      description: 'See the state of the repository, and change what the message names first.',
    },
  ]),
  RemoteRefused: entry(502, null, false, 'The remote {host} did not take part: {detail}', [
    {
      action: 'secret',
      description:
        'Check the address. For a repository that needs a login, name a secret that secrets.list shows.',
    },
  ]),
  PushRejected: entry(409, null, false, 'The remote did not accept {branch}: {detail}', [
    {
      action: 'git.pull',
      description: 'Pull what the remote has, resolve conflicts, and push again.',
    },
  ]),
  GitFailed: entry(500, null, false, 'Git ended with an error: {detail}', [
    { action: 'git.status', description: 'See the state of the repository.' },
  ]),
} as const satisfies Record<string, ErrorEntry>
