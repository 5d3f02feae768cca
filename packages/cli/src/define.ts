import type { RunFile } from '@gatehouse/contract'
import type { Client } from '@gatehouse/rest-client'
import type { WithoutData } from './connect.ts'
import type { DataPlaces } from './data-places.ts'
import type { ExitCode } from './exit-codes.ts'
import type { Io } from './io.ts'
import type { NextStep } from './next-step.ts'

/** `many`: one or more words, all that are left; none too where it is optional. */
export type ArgSpec =
  | string
  | { readonly about: string; readonly optional: true }
  | { readonly about: string; readonly many: true; readonly optional?: true }

export type OptionSpec = {
  readonly about: string
  /** The word for its value in the help; without it the option is a switch. */
  readonly value?: string
  readonly integer?: true
  readonly choices?: readonly string[]
  /** A list: separated by commas, and the option may be given again. */
  readonly many?: true
}

type Args = Readonly<Record<string, ArgSpec>>
type Options = Readonly<Record<string, OptionSpec>>

type ArgValues<A extends Args> = {
  readonly [K in keyof A]: A[K] extends { many: true }
    ? readonly string[]
    : A[K] extends { optional: true }
      ? string | undefined
      : string
}
type OptionValue<O extends OptionSpec> = O extends { value: string }
  ? O extends { integer: true }
    ? number | undefined
    : O extends { choices: readonly (infer C)[] }
      ? C | undefined
      : O extends { many: true }
        ? readonly string[] | undefined
        : string | undefined
  : boolean
type OptionValues<O extends Options> = { readonly [K in keyof O]: OptionValue<O[K]> }

/** Context of every command, read from the same flags everywhere. */
export type Context = {
  readonly io: Io
  readonly places: DataPlaces
  readonly configFile: string | undefined
  readonly json: boolean
  readonly quiet: boolean
  readonly yes: boolean
  /** The data, through the running server or in process; opened by the first call. */
  readonly api: Client
  /** The running server; raises `NotRunning` where none runs. */
  server(): Promise<RunFile>
  readonly next: NextStep
  /** The output of data, and that of notes. */
  readonly views: { readonly stdout: View; readonly stderr: View }
  /** A word to the person beside the data, on the error output. */
  note(text: string): Promise<void>
  /** Whether a server answers, which also runs what is approved. */
  isServed(): Promise<boolean>
  /** The data directory that is there; raises `NoGatehouse`. */
  dataDir(): Promise<string>
}

/** The output that a text is for. */
export type View = {
  readonly isTTY: boolean
  readonly columns: number
  readonly coloured: boolean
  readonly next: NextStep
}

type Input<A extends Args, O extends Options> = ArgValues<A> & OptionValues<O>

type Shape<A extends Args, O extends Options> = {
  readonly name: string
  readonly summary: string
  readonly args?: A
  readonly options?: O
  readonly examples: readonly string[]
}

/** A command that another program waits for: it runs before anything is loaded for the data. */
type LoneSpec<A extends Args, O extends Options> = Shape<A, O> & {
  runAlone(context: LoneContext, input: Input<A, O>): Promise<ExitCode>
}

export type LoneContext = Pick<Context, 'io' | 'places' | 'configFile'>

type Spec<A extends Args, O extends Options, F, R> = Shape<A, O> & {
  readonly withoutData?: WithoutData
  /** Works on the directory that is named, or the usual one, and looks in no other place. */
  readonly oneDirectory?: true
  /** Reads what the question is about, and changes nothing. */
  look?(context: Context, input: Input<A, O>): Promise<F>
  /**
   * Question before something is done that can't be undone; null where this use of the
   * command does no such thing. Where nobody can be asked, the runner refuses it without `--yes`.
   * @SECURITY destructive.test.ts names each operation that needs one.
   */
  question?(input: Input<A, O>, found: F): string | null
  /** For a decision that the command line spells out: it is asked about at a terminal only. */
  readonly goesOnUnasked?: true
  /** Does it, and returns what `--json` prints; `undefined` if it has printed by itself. */
  run(context: Context, input: Input<A, O>, found: F): Promise<R>
  /** The same for people. */
  text?(result: NonNullable<R>, view: View): string
  /** The exit code, where a result can be bad news. */
  exitCode?(result: NonNullable<R>): number
}

export type DataCommand = Spec<Args, Options, unknown, unknown>
export type LoneCommand = LoneSpec<Args, Options>
export type Command = DataCommand | LoneCommand

export function defineCommand<
  const A extends Args = Record<never, never>,
  const O extends Options = Record<never, never>,
  F = undefined,
  R = unknown,
>(command: Spec<A, O, F, R>): DataCommand {
  // The runner parses arguments by this very specification, so the erased type is safe.
  return command as unknown as DataCommand
}

export function defineLoneCommand<
  const A extends Args = Record<never, never>,
  const O extends Options = Record<never, never>,
>(command: LoneSpec<A, O>): LoneCommand {
  return command as unknown as LoneCommand
}
