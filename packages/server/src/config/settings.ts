import type { Configuration } from '@gatehouse/contract'
import type { AuditTargetSettings } from './audit-targets.ts'
import type { fields, Key } from './fields.ts'
import type { readings } from './readings.ts'
import type { Target } from './targets.ts'

type Forms = {
  readonly string: string
  readonly choice: string
  readonly integer: number
  readonly boolean: boolean
  /** In milliseconds. */
  readonly duration: number
  readonly list: readonly string[]
  readonly commands: Readonly<Record<string, readonly string[]>>
  readonly targets: readonly Target[]
  readonly 'audit targets': readonly AuditTargetSettings[]
}

type FieldOf<K extends Key> = Extract<(typeof fields)[number], { readonly key: K }>
type Plain<F extends (typeof fields)[number]> =
  | (F extends { readonly choices: readonly (infer C)[] } ? C : Forms[F['type']])
  | (F['default'] extends null ? null : never)

/** The active settings, by key, each of the type that its field and its reading give it. */
export type Settings = {
  readonly [K in Key]: K extends keyof typeof readings
    ? ReturnType<(typeof readings)[K]>
    : Plain<FieldOf<K>>
} & {
  /** Environment variables that commands of the operator inherit. */
  readonly commandEnvironment: Readonly<Record<string, string>>
  /** Origin of each value by key: `--flag`, `VARIABLE`, `file:line:column` or `default`. */
  readonly origins: Readonly<Record<string, string>>
  /** The same for people, without secrets. */
  readonly configuration: Pick<Configuration, 'settings' | 'file'>
}
