import { resolve } from 'node:path'
import { didYouMean } from '@gatehouse/contract/nearest'
import { usageError } from '../cli-error.ts'
import { type ClientSpec, clients, type Place, type Scope } from './client.ts'

const ids = clients.map(({ id }) => id)

export type Target = {
  readonly client: ClientSpec
  readonly scope: Scope
  /** Name of the configuration file, and the folder of the project. */
  readonly file: string
  readonly folder: string
}

/** The file that a command line is about. */
export function findTarget(
  id: string,
  scope: Scope,
  place: Omit<Place, 'folder'> & { readonly folder: string | undefined },
): Target {
  const client = clients.find((one) => one.id === id)
  if (!client)
    throw usageError(`CLIENT is one of ${ids.join(', ')}, not "${id}".${didYouMean(id, ids)}`)
  if (scope === 'user' && place.folder !== undefined)
    throw usageError('--folder goes with --scope project.')
  const folder = resolve(place.folder ?? '.')
  const file = client.files[scope]?.({ ...place, folder })
  if (file === undefined)
    throw usageError(`${client.title} has no configuration of a project; leave out --scope.`)
  return { client, scope, file, folder }
}
