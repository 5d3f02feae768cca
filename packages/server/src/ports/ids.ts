import type { IdPrefix } from '@gatehouse/contract'

export interface Ids {
  /** Must return `<prefix>-` and 26 characters that sort by creation and cannot be guessed. */
  next(prefix: IdPrefix): string

  /** Must return 32 random bytes. */
  secret(): Buffer
}
