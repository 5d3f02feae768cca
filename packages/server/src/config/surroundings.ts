import type { Value } from './parse.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Facts that a setting may depend on besides its own value. */
export type Surroundings = {
  /** Where the value came from, for a refusal. */
  readonly origin: string
  readonly dataDir: string
  /** Path of the configuration file, which need not exist. */
  readonly file: string
  readonly environment: Environment
  /** Another setting as it was written. */
  readonly given: (key: string) => Value
}
