/** Slow on purpose, so at most two at once; raises `TooManyLogins` when too many wait. */
export interface Passwords {
  /** Must return a text that holds everything `verify` needs, never the same twice. */
  hash(password: string): Promise<string>

  /** Must take as long for null, an operator that does not exist, as for a real hash. */
  verify(hash: string | null, password: string): Promise<boolean>
}
