import type { Capabilities } from './capabilities.ts'
import type { CallOptions } from './options.ts'

/** A capability of Gatehouse itself. Tools of upstream servers have names that no version knows. */
export type CapabilityName = keyof Capabilities

/** Any name; editors propose those that are known. */
export type AnyName = CapabilityName | (string & Record<never, never>)

export type ArgumentsOf<N extends string> = N extends CapabilityName
  ? Capabilities[N]['arguments']
  : Readonly<Record<string, unknown>>

export type ResultOf<N extends string> = N extends CapabilityName
  ? Capabilities[N]['result']
  : unknown

/** Arguments may be left out where the capability needs none. */
export type Given<N extends string> =
  Record<never, never> extends ArgumentsOf<N>
    ? [args?: ArgumentsOf<N>, options?: CallOptions]
    : [args: ArgumentsOf<N>, options?: CallOptions]
