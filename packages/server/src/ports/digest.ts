export interface Digest {
  /**
   * Must return RFC 8785 canonical JSON: equal values give equal bytes. Must raise on what it cannot
   * carry (undefined, non-finite numbers, lone surrogates).
   */
  canonical(value: unknown): string

  /** Must return the SHA-256 of the UTF-8 bytes, lowercase hex. */
  sha256(text: string): string

  /** Must return the HMAC-SHA-256 of the UTF-8 bytes under the bytes of the key, lowercase hex. */
  hmac(key: string, text: string): string

  /** Must compare in constant time; false for unequal lengths. */
  equal(a: string, b: string): boolean
}
