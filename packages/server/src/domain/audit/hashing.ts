/**
 * Hashing that the log needs of the platform. Hashes travel as lowercase hex: where many are made, strings are
 * measurably cheaper than byte arrays.
 */
export interface Hashing {
  /** SHA-256 of the bytes, in hex. */
  sha256(bytes: Uint8Array): string

  /** Room to write into; only such room goes into the other methods. */
  room(bytes: number): Uint8Array

  /** Writes what the hex stands for at an offset. */
  writeHex(into: Uint8Array, hex: string, at: number): void

  /** Writes text as UTF-8 at an offset and returns how many bytes that took; `into` is large enough. */
  writeText(into: Uint8Array, text: string, at: number): number
}

/** Digests in the place of values that are not kept. Both in hex, of UTF-8 bytes. */
export interface Digests {
  sha256(text: string): string

  /** Keyed for one install, so that a guess cannot be tried elsewhere. */
  hmac(text: string): string
}
