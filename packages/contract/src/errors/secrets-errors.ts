import { type ErrorEntry, entry } from './error-entry.ts'

/** Secrets. */
export const secretsErrors = {
  SecretNotFound: entry(404, -32602, false, 'There is no secret {name}.', [
    { action: 'gatehouse vault list', description: 'See which secrets there are.' },
  ]),
  SecretExists: entry(409, -32602, false, 'There is already a secret {name}.', [
    { action: 'gatehouse vault rotate', description: 'Give the existing secret a new value.' },
  ]),
  SecretNotAllowed: entry(
    403,
    null,
    false,
    'No secret {name} may be used by {agent} with {capability} for {host}.',
    [
      {
        action: 'secrets.list',
        description:
          'See which secrets you may use, with which capability and host; an operator changes the scope.',
      },
    ],
    [
      {
        action: 'gatehouse vault scope',
        description: 'Allow the secret for that agent, capability and host.',
      },
    ],
  ),
  SecretRefused: entry(400, -32602, false, 'The value of {name} cannot be kept: {detail}', [
    { action: 'change the value', description: 'Give a value that meets what the message names.' },
  ]),
  VaultLocked: entry(503, null, true, 'The vault is locked, so no secret can be used: {detail}', [
    {
      action: 'gatehouse vault unlock',
      description: 'An operator unlocks it. What needs no secret works meanwhile.',
    },
  ]),
  VaultTampered: entry(
    500,
    null,
    false,
    'The stored data of {what} is not what the vault wrote, so it is not used.',
    [
      {
        action: 'gatehouse vault delete',
        description:
          'An operator finds out who else can write to the database, then deletes the secret and adds it again.',
      },
    ],
  ),
  WrongPassphrase: entry(403, -32602, false, 'This is not the passphrase of the vault.', [
    {
      action: 'gatehouse vault unlock',
      description: 'Try again with the right passphrase; nobody can recover it.',
    },
  ]),
  VaultConflict: entry(409, -32602, false, 'The vault is {status}: {detail}', [
    { action: 'gatehouse vault status', description: 'See the state of the vault first.' },
  ]),
} as const satisfies Record<string, ErrorEntry>
