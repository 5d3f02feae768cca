import type { JsonObject } from './json.ts'

/** Key of an entry: ids are unique within a collection of a service. */
export type ReplicaKey = {
  /** A mail folder, a calendar. */
  readonly collection: string
  readonly id: string
}

/** Entry of the replica: one message, event, … Texts of any length are cut at their limit, never refused. */
export type ReplicaEntry = ReplicaKey & {
  /** ETag, mod-sequence: what a write that expects this state names. */
  readonly version: string
  /** Orders lists: ms since 1970 of the message, of the event's start. */
  readonly sort_ms: number
  /** Where it lasts: its end. Equal to `sort_ms` for what has no length. */
  readonly until_ms: number
  /** At most 1,000 characters; searched, and shown in lists. */
  readonly title: string
  /** Sender or organiser; at most 1,000 characters; searched as such. */
  readonly from: string
  /** Further text to search: recipients, body, place; at most 256 KiB. */
  readonly text: string
  /** `unread`, `flagged`, `attachment`, `cancelled`, … of at most 64 characters, at most 64 of them. */
  readonly flags: readonly string[]
  /** Further ids it is found by, such as a Message-ID or a thread: at most 16, of at most 998 characters. */
  readonly keys: readonly string[]
  /** The document that the adapter's capabilities read; at most 2 MiB as JSON. */
  readonly body: JsonObject
  /** At the service. */
  readonly size_bytes: number
}

/** As it is read: the text is in the index only. */
export type FoundEntry = Omit<ReplicaEntry, 'text'>

export type ReplicaChange =
  | { readonly kind: 'put'; readonly entry: ReplicaEntry }
  | { readonly kind: 'remove'; readonly key: ReplicaKey }

export type ReplicaQuery = {
  /** Absent: all. */
  readonly collections?: readonly string[]
  /**
   * Words that must all be there, in title, from or text; each also matches as the beginning of a word,
   * but for those "in quotes", which match as a phrase. Case and accents make no difference.
   */
  readonly words?: string
  /** The same, in `from` alone; in `title` alone. */
  readonly from?: string
  readonly title?: string
  /** Entries whose time touches the range: `until_ms` ≥ `since_ms`, `sort_ms` < `before_ms`. */
  readonly since_ms?: number
  readonly before_ms?: number
  readonly with_flags?: readonly string[]
  readonly without_flags?: readonly string[]
  readonly order: 'newest_first' | 'oldest_first'
  readonly limit: number
  readonly offset: number
}

/** Number of entries in a collection. */
export type CollectionCount = {
  readonly collection: string
  readonly entries: number
  /** How many have the flag that was asked for. */
  readonly with_flag: number
}

/** A copy of each service's entries: all that agents read. What changes several things belongs in a transaction. */
export interface ReplicaStore {
  /** Must store the changes in the order given, and stamp each put with the run. */
  apply(service: string, changes: readonly ReplicaChange[], run: number): Promise<void>

  /**
   * Must drop at most `limit` entries of these collections, or of all for null, that were last put in an
   * earlier run; returns how many it dropped. Fewer than the limit: none are left.
   */
  dropOlder(
    service: string,
    collections: readonly string[] | null,
    run: number,
    limit: number,
  ): Promise<number>

  /** Must return null where there is none. Ids are compared byte by byte. */
  find(service: string, key: ReplicaKey): Promise<FoundEntry | null>

  /** Must return the entries with this id or key in any collection, by collection and id; at most 100. */
  findByKey(service: string, key: string): Promise<readonly FoundEntry[]>

  /** Must return a page and the number of all that match. Entries of the same time are in the order of collection and id. */
  query(
    service: string,
    query: ReplicaQuery,
  ): Promise<{ readonly entries: readonly FoundEntry[]; readonly total: number }>

  /** Must be in the order of the collections' names. */
  collections(service: string, flag: string): Promise<readonly CollectionCount[]>

  /** Must cost the same however much there is. Services without any are missing. */
  counts(): Promise<ReadonlyMap<string, number>>
}
