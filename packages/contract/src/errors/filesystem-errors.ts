import { type ErrorEntry, entry } from './error-entry.ts'

const listFolder = {
  action: 'filesystem.list',
  description: 'List the folder to see what is there.',
}

const statPath = { action: 'filesystem.stat', description: 'Check what is at the path first.' }

const stayInside = {
  action: 'agent.whoami',
  description:
    'See which folders are yours; paths are absolute inside them or relative to your workspace.',
}

/** Filesystem. */
export const filesystemErrors = {
  PathOutOfScope: entry(403, null, false, '{path} is outside the folders of this agent.', [
    stayInside,
  ]),
  PathNotPermitted: entry(
    403,
    null,
    false,
    'Policy does not let this call touch {path}: {detail}.',
    [{ action: 'agent.policy', description: 'See which rules apply to you.' }],
  ),
  WorkspaceElsewhere: entry(
    421,
    null,
    false,
    'The workspace of {agent} is not on this node: {detail}.',
    [
      {
        action: 'try again later',
        description:
          'Once that node is reached again it answers here; a WebSocket has to be opened anew. Calls that touch no folder work meanwhile.',
      },
      {
        action: 'gatehouse nodes list',
        description:
          'An operator sees there what is wrong with it, or mounts one folder of workspaces on all nodes (guide: several nodes).',
      },
    ],
  ),
  FileNotFound: entry(404, null, false, 'There is no file at {path}.', [listFolder]),
  FolderNotFound: entry(404, null, false, 'There is no folder {folder} to put {path} in.', [
    { action: 'filesystem.mkdir', description: 'Make the folder first.' },
  ]),
  NotADirectory: entry(409, null, false, '{path} is not a folder.', [statPath]),
  NotARegularFile: entry(409, null, false, '{path} is not a regular file.', [statPath]),
  IsADirectory: entry(409, null, false, '{path} is a folder.', [listFolder]),
  AlreadyExists: entry(409, null, false, 'There is already something at {path}.', [
    { action: 'overwrite', description: 'Set overwrite to true, or choose another destination.' },
  ]),
  DirectoryNotEmpty: entry(409, null, false, 'The folder {path} is not empty.', [
    { action: 'recursive', description: 'Set recursive to true to delete it with its contents.' },
  ]),
  ReadOnlyRoot: entry(403, null, false, '{path} is in a read-only folder.', [stayInside]),
  ProtectedPath: entry(403, null, false, '{path} is protected: {detail}', [
    {
      action: 'choose another path',
      description: 'The service keeps this path for itself. Use another one inside your folders.',
    },
  ]),
  FileChanged: entry(409, null, false, '{path} has changed: its sha256 is {sha256}.', [
    {
      action: 'filesystem.read',
      description: 'Read it again and base the change on its current content.',
    },
  ]),
  FileTooLarge: entry(
    413,
    null,
    false,
    '{path} has {size_bytes} bytes; at most {limit_bytes} fit.',
    [{ action: 'range', description: 'Read it in ranges with offset and limit.' }],
  ),
  InvalidPath: entry(400, null, false, 'The path is not usable: {detail}', [
    {
      action: 'fix the path',
      description:
        'Correct what the message names. Paths are absolute inside your folders, or relative to your workspace.',
    },
  ]),
  InvalidPattern: entry(400, null, false, 'The pattern is not usable: {detail}', [
    {
      action: 'fix the pattern',
      description:
        'Correct what the message names. Regular expressions have RE2 syntax, without look-around.',
    },
  ]),
  InvalidEncoding: entry(422, null, false, '{path} is not {encoding}: {detail}', [
    { action: 'filesystem.read', description: 'Read it with encoding base64 or latin1.' },
  ]),
  DigestMismatch: entry(
    422,
    null,
    false,
    'The content that arrived for {path} has the sha256 {sha256}, not {expected}; it was not kept.',
    [
      {
        action: 'sha256',
        description: 'Check the address and the sha256 with their publisher.',
      },
    ],
  ),
  EditMismatch: entry(409, null, false, 'Expected {expected} replacements, found {found}.', [
    { action: 'dry_run', description: 'Set dry_run to true to see every place that would change.' },
  ]),
  TooManyLinks: entry(
    403,
    null,
    false,
    '{path} has more than one hard link, which this folder refuses.',
    [
      {
        action: 'filesystem.copy',
        description: 'Copy the file to a new name and use the copy.',
      },
    ],
  ),
  PermissionRefused: entry(
    403,
    null,
    false,
    'The operating system does not let the service touch {path}.',
    [
      {
        action: 'ask an operator',
        description: 'An operator changes the rights of the file, or gives you another folder.',
      },
    ],
  ),
  StorageFull: entry(507, null, true, 'There is no room left for {path}.', [
    {
      action: 'free space',
      description: 'Delete what is no longer needed, or ask an operator for more room.',
    },
  ]),
  TrashNotFound: entry(404, null, false, 'There is nothing in the trash under {trash_id}.', [
    {
      action: 'check the trash_id',
      description: 'Use the trash_id that filesystem.delete returned, within 7 days.',
    },
  ]),
  WatchNotFound: entry(404, null, false, 'There is no watch {watch_id}.', [
    {
      action: 'filesystem.watch',
      description: 'Set a new watch; watches end with the service and with your agent.',
    },
  ]),
} as const satisfies Record<string, ErrorEntry>
