import { type ErrorEntry, entry } from './error-entry.ts'

/** Models. */
export const modelsErrors = {
  ModelNotFound: entry(404, null, false, 'There is no model {id}.', [
    { action: 'gatehouse models list', description: 'See which models there are.' },
  ]),
  ModelNotInstalled: entry(409, null, false, 'The model {id} is not installed: {detail}', [
    { action: 'gatehouse models install', description: 'An operator installs it first.' },
  ]),
  ModelBusy: entry(409, null, true, 'The model {id} is being installed.', [
    { action: 'gatehouse models cancel', description: 'Cancel the installation, or wait for it.' },
  ]),
  JobNotFound: entry(404, null, false, 'There is no job {job_id}.', [
    {
      action: 'gatehouse models list',
      description: 'See the state of the model; finished jobs are deleted after a while.',
    },
  ]),
  NotEnoughDisk: entry(
    507,
    null,
    true,
    'Installing {id} takes {needed_bytes} more bytes, and {free_bytes} may be written on this disk.',
    [
      { action: 'free space', description: 'Remove other files or models, and install it again.' },
      { action: 'gatehouse models list', description: 'Choose a smaller model.' },
    ],
  ),
  ModelSourceFailed: entry(502, null, true, 'The file of {id} cannot be fetched: {detail}', [
    {
      action: 'gatehouse models install',
      description: 'Install it again later; it goes on where it stopped.',
    },
    {
      action: 'models.mirrors',
      description: 'Name a mirror of the host, if this network has one.',
    },
  ]),
  ModelSizeMismatch: entry(
    502,
    null,
    false,
    'The file of {id} does not have the {size_bytes} bytes that its entry promises: {detail}',
    [{ action: 'report', description: 'Tell the maintainer of the catalog; do not use the file.' }],
  ),
  ModelHashMismatch: entry(
    502,
    null,
    false,
    'The file of {id} is not the one that was reviewed: its sha256 is {found}, not {expected}.',
    [
      {
        action: 'gatehouse models install',
        description: 'Install it again, in case the download was damaged; this file is not used.',
      },
      { action: 'report', description: 'If it happens again, tell the maintainer of the catalog.' },
    ],
  ),
  ModelHeaderRefused: entry(
    422,
    null,
    false,
    'The file of {id} is not a model that may be loaded: {detail}.',
    [
      {
        action: 'report',
        description: 'Tell the maintainer of the catalog; choose another model.',
      },
    ],
  ),
  CatalogUnavailable: entry(502, null, true, 'The catalog cannot be fetched: {detail}', [
    {
      action: 'retry',
      description: 'Built-in models and those fetched before stay available.',
    },
  ]),
} as const satisfies Record<string, ErrorEntry>
