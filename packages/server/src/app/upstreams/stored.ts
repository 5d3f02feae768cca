import type { Accepted, Seen } from '../../domain/upstream/pins.ts'
import type { StoredUpstream, UpstreamConfig } from '../../ports/upstream.ts'

/** A server as it is worked with: the texts of its row, read. */
export type UpstreamRecord = Omit<StoredUpstream, 'config_json' | 'accepted_json' | 'seen_json'> & {
  readonly config: UpstreamConfig
  readonly accepted: Accepted
  readonly seen: Seen | null
}

export const readRow = ({
  config_json,
  accepted_json,
  seen_json,
  ...row
}: StoredUpstream): UpstreamRecord => ({
  ...row,
  config: JSON.parse(config_json),
  accepted: JSON.parse(accepted_json),
  seen: seen_json === null ? null : JSON.parse(seen_json),
})

export const toRow = ({ config, accepted, seen, ...row }: UpstreamRecord): StoredUpstream => ({
  ...row,
  config_json: JSON.stringify(config),
  accepted_json: JSON.stringify(accepted),
  seen_json: seen === null ? null : JSON.stringify(seen),
})
