import type { ModelHeader, ModelSource } from '@gatehouse/contract'

/** A model whose file was verified on a node. Times are ms since 1970 of the wall clock. */
export type StoredModel = {
  /** The node whose disk has the file. */
  readonly node: string
  readonly id: string
  readonly source: ModelSource
  readonly sha256: string
  readonly size_bytes: number
  /** The entry of the catalog as it was when it was installed. */
  readonly entry_json: string
  readonly header_json: string
  readonly installed_ms: number
  readonly verified_ms: number
  /** Why it is not offered any more, although it was installed. */
  readonly problem: string | null
}

export interface ModelStore {
  /** Must return those of a node by id, in the order of their bytes. */
  list(node: string): Promise<readonly StoredModel[]>

  /** Must return null for an unknown id. Ids must be compared byte by byte. */
  find(node: string, id: string): Promise<StoredModel | null>

  /** Must store it in place of what that node has under that id. Must be durable when the promise resolves (of its transaction, inside one). */
  put(model: StoredModel): Promise<void>

  /** Must delete it, and say whether it was there. */
  remove(node: string, id: string): Promise<boolean>
}

export type ModelFile = {
  readonly id: string
  readonly url: string
  readonly sha256: string
  readonly size_bytes: number
}

/** How far a file has come. `header` is set as soon as enough of it is here to judge. */
export type FileProgress = {
  readonly phase: 'resuming' | 'downloading' | 'verifying' | 'finishing'
  readonly bytes: number
  readonly header: ModelHeader | null
}

/** The files of models on this machine, named by their hash: an id never becomes a part of a path. */
export interface ModelFiles {
  /** Must be where the verified file lies, or would. */
  pathOf(sha256: string): string

  /** Whether a regular file of this size lies there. */
  holds(file: Pick<ModelFile, 'sha256' | 'size_bytes'>): Promise<boolean>

  /** How much of it an unfinished download has. */
  partialBytes(sha256: string): Promise<number>

  /** Bytes that may still be written, less what must stay free. */
  freeBytes(): Promise<number>

  /** Memory that programs may still take, in bytes. */
  availableMemory(): Promise<number>

  /**
   * Must go on from what an earlier download left, write no more than `size_bytes`, and put the file in its
   * place only when its hash is equal and its header is accepted; what is refused must be kept apart and
   * never offered. Raises `ModelHashMismatch`, `ModelSizeMismatch`, `ModelHeaderRefused`, `NotEnoughDisk`,
   * `ModelSourceFailed` for an answer that will not change; anything else may pass when tried again.
   */
  fetch(
    file: ModelFile,
    report: (progress: FileProgress) => void,
    signal: AbortSignal,
  ): Promise<ModelHeader>

  /** Must hash what lies in place; null where nothing does. `report` is told of the bytes so far. */
  hash(
    sha256: string,
    signal: AbortSignal,
    report?: (bytes: number) => void,
  ): Promise<{ readonly sha256: string; readonly size_bytes: number } | null>

  /** Must read the header of what lies in place. Raises `ModelHeaderRefused`. */
  header(file: ModelFile): Promise<ModelHeader>

  /** Reads the header from the source, without the rest. Raises as `fetch` does. */
  inspect(file: ModelFile, signal: AbortSignal): Promise<ModelHeader>

  /** Must take the file out of its place and keep it apart. */
  reject(sha256: string): Promise<void>

  /** Must remove the file and all that is left of downloads of it, and return how many bytes that freed. */
  remove(sha256: string): Promise<number>
}

/** A catalog as it was last fetched, byte for byte. */
export type FetchedCatalog = {
  readonly bytes: Uint8Array
  readonly etag: string | null
  readonly fetched_ms: number
}

export interface CatalogSource {
  /** Null where none is configured. */
  readonly url: string | null

  /** Must return what the last `keep` stored for this address, across restarts; null for nothing or for what is damaged. */
  kept(): Promise<FetchedCatalog | null>

  keep(catalog: FetchedCatalog): Promise<void>

  /**
   * Must ask by https alone, on redirects too, and read no more than the limit of a catalog. Returns null where
   * what `etag` names still stands. Raises `CatalogUnavailable`.
   */
  fetch(
    etag: string | null,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: Uint8Array; readonly etag: string | null } | null>
}

/** A model that may be loaded: its file is in place and was verified. */
export type InstalledModel = {
  readonly id: string
  readonly label: string | null
  /** Absolute, read-only. */
  readonly file: string
  readonly sha256: string
  readonly size_bytes: number
  readonly header: ModelHeader
}

/** Installed models, as far as an engine may know of them. */
export interface InstalledModels {
  list(): Promise<readonly InstalledModel[]>

  /** Raises `ModelNotFound` or `ModelNotInstalled`. */
  find(id: string): Promise<InstalledModel>

  /** Must return the one used where a caller names none, or null. */
  default(): Promise<InstalledModel | null>
}
