import { GatehouseError } from '@gatehouse/contract'
import { parseStored } from './parse-stored.ts'

/** Where `meta` says that the data of a store is on its way from another, or has gone to one. */
export const moveKey = 'move'

/** Rows of a table, and the SHA-256 over them in the order of their keys. */
export type MovedTable = { readonly rows: number; readonly sha256: string }

export type MoveReport = Readonly<Record<string, MovedTable>>

type Arrival<S extends string> = {
  readonly state: S
  readonly from_store: string
  readonly moved_at: string
  readonly tables: MoveReport
}

/**
 * `arriving`: a copy that was compared with its source, and no service may use yet. `leaving`: the data is copied
 * elsewhere, or was. `done`: a copy that took the place of its source.
 */
export type MoveMark =
  | Arrival<'arriving'>
  | Arrival<'done'>
  | { readonly state: 'leaving'; readonly data_dir: string; readonly moved_at: string }

export const parseMark = (text: string | null): MoveMark | null =>
  text ? parseStored<MoveMark>(text, `meta.${moveKey}`) : null

/**
 * @SECURITY Two stores with the same agents, tokens and approvals would both be served: what is approved ran twice;
 * migrate.test.ts.
 * @throws StoreMismatch for a store that is not, or no longer, to be served.
 */
export const assertServable = (mark: MoveMark | null): void => {
  if (mark === null || mark.state === 'done') return
  const [detail, command] =
    mark.state === 'leaving'
      ? [
          `its data was moved to SQLite in ${mark.data_dir} on ${mark.moved_at}`,
          'gatehouse migrate --back',
        ]
      : [`the move of ${mark.moved_at} into this store is not finished`, 'gatehouse migrate']
  throw new GatehouseError(
    'StoreMismatch',
    { detail },
    {
      recovery: [
        {
          action: command,
          description: 'Give the command of the move again: it goes on where it was interrupted.',
        },
      ],
    },
  )
}
